// Sums of a block of half precision without a detour through memory, and of its
// logarithms as integers: what moments.h and logarithms.h do in floats. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_HALF_AVX2_H_
#define NANWATCH_OBSERVE_HALF_AVX2_H_

#if defined(__AVX2__) && !defined(__AVX512F__)

#include <immintrin.h>

#include "logarithms.h"

namespace nanwatch {
namespace {

inline __m256 WidenEight(const Unaligned16* x) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

inline double Total(const __m256 (&v)[4]) {
  const __m256 eight =
      _mm256_add_ps(_mm256_add_ps(v[0], v[1]), _mm256_add_ps(v[2], v[3]));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight),
                                 _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return static_cast<double>(
      _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two))));
}

// REQUIRES: a whole block without special values.
inline void AddHalves(const Unaligned16* x, Sums* sums) {
  // Four of each: an addition does not wait for the one before it.
  __m256 values[4] = {};
  __m256 squares[4] = {};
  for (size_t i = 0; i < kBlock; i += 32) {
    // Otherwise the next block's first pass, which computes little, waits.
    // After the end of the buffer it does nothing.
    _mm_prefetch(reinterpret_cast<const char*>(x + i + kBlock), _MM_HINT_T0);
    for (size_t j = 0; j < 4; ++j) {
      const __m256 v = WidenEight(x + i + 8 * j);
      values[j] = _mm256_add_ps(values[j], v);
      squares[j] = _mm256_fmadd_ps(v, v, squares[j]);
    }
  }
  sums->values += Total(values);
  sums->squares += Total(squares);
}

// Logarithms of halves are relative to 2^kHalfPivot: the middle of the normal
// ones, so that squares are small.
constexpr int kHalfPivot = 1;

// log2(1 + t) - t, in units of 2^-16, within 3.6 of them; exactly 0 at 0.
// `mantissa`: t, in units of 2^-10. With h = t(1 - t), h(a + bt + h(c + t/32)):
// it is 0 at both ends, and products are what takes long.
inline __m256i Bend(__m256i mantissa) {
  const __m256i t = _mm256_slli_epi16(mantissa, 5);  // in units of 2^-15
  // 1 - t. Of t = 0 it is -1 in this width; the product is 0 all the same.
  const __m256i rest = _mm256_sub_epi16(_mm256_set1_epi16(-0x8000), t);
  const __m256i h = _mm256_mulhrs_epi16(t, rest);
  const __m256i c =
      _mm256_add_epi16(_mm256_srli_epi16(t, 4), _mm256_set1_epi16(-6358));
  const __m256i a =
      _mm256_add_epi16(_mm256_mulhrs_epi16(t, _mm256_set1_epi16(-10608)),
                       _mm256_set1_epi16(28903));
  return _mm256_mulhrs_epi16(h, _mm256_add_epi16(a, _mm256_mulhrs_epi16(h, c)));
}

// Exponents as floats have them, and ten bits of mantissa: so a subnormal half
// has a place below the normal ones. The smallest exponent is 1; zero is 0. The
// order is not that of `x`.
inline __m256i ExtendSixteen(const Unaligned16* x) {
  constexpr int kLeast = 127 - (Fp16Format::kBias + Fp16Format::kMantissa);
  const auto extend = [](__m256 v) {
    const __m256i magnitude =
        _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7fffffff));
    return _mm256_sub_epi32(_mm256_srli_epi32(magnitude, 13),
                            _mm256_set1_epi32(kLeast << 10));
  };
  return _mm256_packus_epi32(extend(WidenEight(x)), extend(WidenEight(x + 8)));
}

// Sixteen log2|x| - kHalfPivot: so many units of 2^-10, and so many of 2^-16
// left. Of zero: 0.
struct HalfLogs {
  __m256i units;
  __m256i left;
};

// The bits of a half are its logarithm already, but for the bend between two
// powers of two. Sixteen integers go into a vector that holds eight floats.
template <bool kMayBeLow>
HalfLogs Log2Sixteen(const Unaligned16* x) {
  __m256i bits;
  int pivot = kHalfPivot + Fp16Format::kBias;
  if constexpr (kMayBeLow) {
    bits = ExtendSixteen(x);
    pivot += Fp16Format::kMantissa;
  } else {
    bits = _mm256_and_si256(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)),
        _mm256_set1_epi16(0x7fff));
  }
  const __m256i bend = Bend(_mm256_and_si256(bits, _mm256_set1_epi16(0x3ff)));
  HalfLogs logs;
  logs.units = _mm256_add_epi16(
      _mm256_sub_epi16(bits,
                       _mm256_set1_epi16(static_cast<short>(pivot << 10))),
      _mm256_srli_epi16(bend, 6));
  logs.left = _mm256_and_si256(bend, _mm256_set1_epi16(63));
  if constexpr (kMayBeLow) {
    const __m256i zero = _mm256_cmpeq_epi16(bits, _mm256_setzero_si256());
    logs.units = _mm256_andnot_si256(zero, logs.units);
  }
  return logs;
}

inline int64_t TotalOf32(__m256i v) {
  int32_t parts[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), v);
  int64_t total = 0;
  for (int32_t part : parts) total += part;
  return total;
}

// REQUIRES: a whole block without special values; and, unless `kMayBeLow`,
// without zeros and subnormal ones.
template <bool kMayBeLow>
void AddHalfLogs(const Unaligned16* x, LogSums* sums) {
  // As many pairs of squares as 32 bits hold: the units are at most 15,360, or
  // 25,600 with subnormal ones.
  constexpr size_t kBatch = kMayBeLow ? 2 : 8;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256();
  __m256i left = _mm256_setzero_si256();     // 63 at most, 64 times
  __m256i squares = _mm256_setzero_si256();  // of 64 bits
  for (size_t i = 0; i < kBlock; i += 16 * kBatch) {
    __m256i batch = _mm256_setzero_si256();
#pragma GCC unroll 1
    for (size_t j = 0; j < kBatch; ++j) {
      const HalfLogs logs = Log2Sixteen<kMayBeLow>(x + i + 16 * j);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(logs.units, ones));
      left = _mm256_add_epi16(left, logs.left);
      batch =
          _mm256_add_epi32(batch, _mm256_madd_epi16(logs.units, logs.units));
    }
    squares = _mm256_add_epi64(
        squares, _mm256_and_si256(batch, _mm256_set1_epi64x(0xffffffff)));
    squares = _mm256_add_epi64(squares, _mm256_srli_epi64(batch, 32));
  }
  uint64_t parts[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), squares);
  const uint64_t total = parts[0] + parts[1] + parts[2] + parts[3];
  sums->sum += static_cast<double>(TotalOf32(sum)) * 0x1p-10;
  sums->squares += static_cast<double>(total) * 0x1p-20;
  sums->left +=
      static_cast<double>(TotalOf32(_mm256_madd_epi16(left, ones))) * 0x1p-16;
}

}  // namespace
}  // namespace nanwatch

#endif  // __AVX2__

#endif  // NANWATCH_OBSERVE_HALF_AVX2_H_
