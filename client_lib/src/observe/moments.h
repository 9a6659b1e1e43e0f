// Passes over a block that compute sums, of values and of their log2. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_MOMENTS_H_
#define NANWATCH_OBSERVE_MOMENTS_H_

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "extremes.h"

namespace nanwatch {
namespace {

inline float FloatOf(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
inline double DoubleOf(uint64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint32_t BitsOf(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// What sums are computed in: float holds every half and its square; the range
// of the others needs double.
template <typename F>
struct Wide {
  using Value = float;
  using Sum = double;
};
template <>
struct Wide<Fp16Format> {
  using Value = float;
  using Sum = float;
};
template <>
struct Wide<Fp64Format> {
  using Value = double;
  using Sum = double;
};
template <typename F>
using Value = typename Wide<F>::Value;

inline float WidenHalf(uint16_t bits) {
  const uint32_t m = bits & 0x7fffu;
  // A subnormal half is an integer times 2^-24: no subnormal float is made,
  // which a process may have told its CPU to treat as zero.
  const float low = static_cast<float>(static_cast<int32_t>(m)) * 0x1p-24f;
  const uint32_t normal = m < 0x0400u ? BitsOf(low) : (m << 13) + 0x38000000u;
  return FloatOf(normal | (bits & 0x8000u) << 16);
}

inline void WidenBlock(Elements<Fp16Format> x, size_t n, float* out) {
  size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i halves =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    // (The unmasked form warns about its own undefined source in gcc 12.)
    _mm512_storeu_ps(out + i, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                  reinterpret_cast<const __m128i*>(x + i))));
  }
#endif
  for (; i < n; ++i) out[i] = WidenHalf(x[i]);
}

// Values of a block, 0 for special ones and after the end.
template <typename F>
void Widen(Elements<F> x, size_t n, bool special, Value<F>* out) {
  if constexpr (sizeof(typename F::Bits) == 8) {
    for (size_t i = 0; i < n; ++i) out[i] = DoubleOf(x[i]);
  } else if constexpr (sizeof(typename F::Bits) == 4) {
    for (size_t i = 0; i < n; ++i) out[i] = FloatOf(x[i]);
  } else if constexpr (F::kMantissa == 10) {
    WidenBlock(x, n, out);
  } else {
    for (size_t i = 0; i < n; ++i) {
      out[i] = FloatOf(static_cast<uint32_t>(x[i]) << 16);
    }
  }
  for (size_t i = n; i < kBlock; ++i) out[i] = 0;
  if (!special) return;
  for (size_t i = 0; i < n; ++i) {
    const bool finite = (x[i] & F::kMagnitude) < F::kFirstSpecial;
    out[i] = finite ? out[i] : Value<F>{0};
  }
}

// Doubles are summed 2^-64 times as large, so that no sum of finite ones
// overflows.
template <typename F>
constexpr double kSumUnit = sizeof(typename F::Bits) == 8 ? 0x1p64 : 1;

// Sums of a whole block, in four parts: an addition does not wait for the one
// before it.
template <typename F>
double Sum(const Value<F>* v) {
  using S = typename Wide<F>::Sum;
  constexpr S kUnit = static_cast<S>(1 / kSumUnit<F>);
  constexpr size_t kPart = kBlock / 4;
  S a = 0, b = 0, c = 0, d = 0;
  for (size_t i = 0; i < kPart; ++i) {
    a += static_cast<S>(v[i]) * kUnit;
    b += static_cast<S>(v[i + kPart]) * kUnit;
    c += static_cast<S>(v[i + 2 * kPart]) * kUnit;
    d += static_cast<S>(v[i + 3 * kPart]) * kUnit;
  }
  return static_cast<double>((a + b) + (c + d));
}

template <typename F>
double SumSquares(const Value<F>* v) {
  using S = typename Wide<F>::Sum;
  constexpr size_t kPart = kBlock / 4;
  const auto square = [](Value<F> x) {
    return static_cast<S>(x) * static_cast<S>(x);
  };
  S a = 0, b = 0, c = 0, d = 0;
  for (size_t i = 0; i < kPart; ++i) {
    a += square(v[i]);
    b += square(v[i + kPart]);
    c += square(v[i + 2 * kPart]);
    d += square(v[i + 3 * kPart]);
  }
  return static_cast<double>((a + b) + (c + d));
}

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

template <typename F, bool kMayBeLow>
void SumLogs(const float* v, int pivot, LogSums* sums) {
  constexpr size_t kPart = kBlock / 2;
  float sum = 0, squares = 0, sum2 = 0, squares2 = 0;
  for (size_t i = 0; i < kPart; ++i) {
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

#endif  // NANWATCH_OBSERVE_MOMENTS_H_
