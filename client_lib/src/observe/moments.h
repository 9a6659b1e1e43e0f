// Passes over a block that widen and sum its values. See extremes.h for what
// these headers must not do.

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
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256(
                                  reinterpret_cast<const __m256i*>(x + i))));
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

struct Sums {
  double values = 0;  // in units of kSumUnit
  double squares = 0;
};

// Adds a whole block, in four parts: an addition does not wait for the one
// before it. The compiler drops what is not wanted.
template <typename F, bool kValues, bool kSquares>
void AddSums(const Value<F>* v, Sums* sums) {
  using S = typename Wide<F>::Sum;
  constexpr S kUnit = static_cast<S>(1 / kSumUnit<F>);
  constexpr size_t kPart = kBlock / 4;
  S sum[4] = {};
  S squares[4] = {};
  for (size_t i = 0; i < kPart; ++i) {
    const S a = static_cast<S>(v[i]);
    const S b = static_cast<S>(v[i + kPart]);
    const S c = static_cast<S>(v[i + 2 * kPart]);
    const S d = static_cast<S>(v[i + 3 * kPart]);
    if constexpr (kValues) {
      sum[0] += a * kUnit;
      sum[1] += b * kUnit;
      sum[2] += c * kUnit;
      sum[3] += d * kUnit;
    }
    if constexpr (kSquares) {
      squares[0] += a * a;
      squares[1] += b * b;
      squares[2] += c * c;
      squares[3] += d * d;
    }
  }
  sums->values += static_cast<double>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  sums->squares += static_cast<double>((squares[0] + squares[1]) +
                                       (squares[2] + squares[3]));
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_MOMENTS_H_
