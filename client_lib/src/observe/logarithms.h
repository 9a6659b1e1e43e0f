// Passes over a block that sum log2|x|. See extremes.h for what these headers
// must not do.

#ifndef NANWATCH_OBSERVE_LOGARITHMS_H_
#define NANWATCH_OBSERVE_LOGARITHMS_H_

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "moments.h"

namespace nanwatch {
namespace {

// log2(1 + t) for t in [0, 1), within 8e-6, exactly 0 at 0.
inline float Log2OnePlus(float t) {
  float p = -0.033822046f;
  p = p * t + 0.144471096f;
  p = p * t - 0.30163801f;
  p = p * t + 0.468658879f;
  p = p * t - 0.720358773f;
  p = p * t + 1.44268147f;
  return p * t;
}

// log2 of a positive value, relative to 2^pivot.
inline float Log2Normal(uint32_t bits, int pivot) {
  const int exponent = static_cast<int>(bits >> 23) - 127 - pivot;
  const float one_to_two = FloatOf((bits & 0x7fffffu) | 0x3f800000u);
  return static_cast<float>(exponent) + Log2OnePlus(one_to_two - 1);
}

// Sums of log2|x| - pivot and of its square. Near the values' own exponent the
// pivot keeps the squares from cancelling.
struct LogSums {
  double sum = 0;
  double squares = 0;
  double left = 0;  // what `sum` lacks, where it is of rounded logarithms
};

// A float of the same log2 but for *offset, and never a subnormal one: a
// process may have told its CPU to treat those as zero.
inline uint32_t NormalBits(uint32_t magnitude, int* offset) {
  const bool low = magnitude < 0x00800000u;
  *offset = low ? -149 : 0;
  const float integer = static_cast<float>(static_cast<int32_t>(magnitude));
  return low ? BitsOf(integer) : magnitude;
}

template <typename F, bool kMayBeLow>
float Log2Of(float value, int pivot) {
  const uint32_t m = BitsOf(value) & 0x7fffffffu;
  if constexpr (!kMayBeLow) return Log2Normal(m, pivot);
  if constexpr (F::kMantissa == 10) {  // a float made of a half is normal
    return m == 0 ? 0 : Log2Normal(m, pivot);
  }
  int offset = 0;
  const uint32_t bits = NormalBits(m, &offset);
  return m == 0 ? 0 : Log2Normal(bits, pivot - offset);
}

#if defined(__AVX512F__)
// The constant of Log2Vector's polynomial belongs to the pivot.
inline __m512 LogOrigin(int pivot) {
  return _mm512_set1_ps(static_cast<float>(pivot) + 3.11163027f);
}

// log2|v| - pivot for floats that are normal: the exponent and a polynomial of
// the mantissa (within 8e-6). Of zero: 0.
template <bool kMayBeZero>
__m512 Log2Vector(__m512 v, __m512 origin) {
  const __m512 m = _mm512_getmant_ps(v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const __m512 e = _mm512_sub_ps(_mm512_getexp_ps(v), origin);
  __m512 p = _mm512_set1_ps(-0.033822046f);
  p = _mm512_fmadd_ps(p, m, _mm512_set1_ps(0.347403372f));
  p = _mm512_fmadd_ps(p, m, _mm512_set1_ps(-1.53132418f));
  p = _mm512_fmadd_ps(p, m, _mm512_set1_ps(3.79636279f));
  p = _mm512_fmadd_ps(p, m, _mm512_set1_ps(-5.88820512f));
  p = _mm512_fmadd_ps(p, m, _mm512_set1_ps(6.42121544f));
  if constexpr (kMayBeZero) {
    const __mmask16 some =
        _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    return _mm512_maskz_fmadd_ps(some, p, m, e);
  }
  return _mm512_fmadd_ps(p, m, e);
}

template <bool kMayBeZero>
void SumLogVectors(const float* v, int pivot, LogSums* sums) {
  const __m512 origin = LogOrigin(pivot);
  __m512 sum[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 squares[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (size_t i = 0; i < kBlock; i += 32) {
    for (size_t j = 0; j < 2; ++j) {
      const __m512 l =
          Log2Vector<kMayBeZero>(_mm512_load_ps(v + i + 16 * j), origin);
      sum[j] = _mm512_add_ps(sum[j], l);
      squares[j] = _mm512_fmadd_ps(l, l, squares[j]);
    }
  }
  sums->sum +=
      static_cast<double>(_mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1])));
  sums->squares += static_cast<double>(
      _mm512_reduce_add_ps(_mm512_add_ps(squares[0], squares[1])));
}
#endif

template <typename F, bool kMayBeLow>
void SumLogs(const float* v, int pivot, LogSums* sums) {
#if defined(__AVX512F__)
  // A float made of a half is normal or zero.
  if constexpr (!kMayBeLow || F::kMantissa == 10) {
    SumLogVectors<kMayBeLow>(v, pivot, sums);
    return;
  }
#endif
  // In parts: floats that add up many alike values err always to one side,
  // which the deviation of values that are all alike would show.
  constexpr size_t kPart = kBlock / 8;
  for (size_t begin = 0; begin < kBlock; begin += 2 * kPart) {
    float sum = 0, squares = 0, sum2 = 0, squares2 = 0;
    for (size_t i = begin; i < begin + kPart; ++i) {
      const float l = Log2Of<F, kMayBeLow>(v[i], pivot);
      const float l2 = Log2Of<F, kMayBeLow>(v[i + kPart], pivot);
      sum += l;
      squares += l * l;
      sum2 += l2;
      squares2 += l2 * l2;
    }
    sums->sum += static_cast<double>(sum + sum2);
    sums->squares += static_cast<double>(squares + squares2);
  }
}

// Of doubles: the mantissa's first 23 bits are enough.
template <typename F, bool kMayBeLow>
void SumLogs(const double* v, int pivot, LogSums* sums) {
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    uint64_t m;
    __builtin_memcpy(&m, v + i, sizeof(m));
    m &= Fp64Format::kMagnitude;
    int offset = 0;
    if (m < Fp64Format::kMinNormal) {
      const double integer = static_cast<double>(static_cast<int64_t>(m));
      __builtin_memcpy(&m, &integer, sizeof(m));
      offset = Fp64Format::kLowestExponent;
    }
    const int exponent = static_cast<int>(m >> 52) - 1023 + offset - pivot;
    const uint32_t mantissa = static_cast<uint32_t>(m >> 29) & 0x7fffffu;
    const float t = FloatOf(mantissa | 0x3f800000u) - 1;
    const double l =
        m == 0 ? 0 : exponent + static_cast<double>(Log2OnePlus(t));
    sum += l;
    squares += l * l;
  }
  sums->sum += sum;
  sums->squares += squares;
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_LOGARITHMS_H_
