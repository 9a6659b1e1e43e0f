// Vectors as wide as the instruction set has them, in the compilers' own terms:
// one source for SSE2, AVX2, AVX-512 and NEON. What those terms leave out is
// here, one function each. See extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_LANES_H_
#define NANWATCH_OBSERVE_LANES_H_

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "extremes.h"

namespace nanwatch {
namespace {

#if defined(__AVX512BW__)
constexpr size_t kVector = 64;  // bytes
#elif defined(__AVX2__)
constexpr size_t kVector = 32;
#else
constexpr size_t kVector = 16;
#endif
typedef float Floats __attribute__((vector_size(kVector)));
typedef uint32_t Words __attribute__((vector_size(kVector)));
typedef int32_t Integers __attribute__((vector_size(kVector)));
typedef uint64_t Longs __attribute__((vector_size(kVector)));
constexpr size_t kLanes = kVector / sizeof(float);

template <typename To, typename From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
template <typename Vector>
Vector Load(const void* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}

inline float WidenHalf(uint16_t bits) {
  const uint32_t m = bits & 0x7fffu;
  // A subnormal half is an integer times 2^-24: no subnormal float is made,
  // which a process may have told its CPU to treat as zero.
  const float low = static_cast<float>(static_cast<int32_t>(m)) * 0x1p-24f;
  const uint32_t normal =
      m < 0x0400u ? BitCast<uint32_t>(low) : (m << 13) + 0x38000000u;
  return BitCast<float>(normal | (bits & 0x8000u) << 16);
}

#if defined(__F16C__) || defined(__aarch64__)
#define NANWATCH_LOADS_HALVES 1
// The next kLanes halves; of special ones: anything.
inline Floats LoadHalves(const Unaligned16* x) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(Load<__m256i>(x));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(Load<__m128i>(x));
#else
  return vcvt_f32_f16(Load<float16x4_t>(x));
#endif
}
#else
#define NANWATCH_LOADS_HALVES 0
// As WidenHalf, of halves that each have a word.
inline Floats WidenHalves(Words bits) {
  const Words m = bits & 0x7fff;
  const Words is_low = BitCast<Words>(m < 0x0400);
  const Floats low =
      __builtin_convertvector(BitCast<Integers>(m), Floats) * 0x1p-24f;
  const Words normal = (m << 13) + 0x38000000;
  return BitCast<Floats>((BitCast<Words>(low) & is_low) | (normal & ~is_low) |
                         (bits & 0x8000) << 16);
}
#endif

// Loads the next 2 * kLanes elements, in any order; of special halves anything.
template <typename F>
void LoadFloats(Elements<F> x, Floats* v) {
  if constexpr (sizeof(typename F::Bits) == 4) {
    v[0] = Load<Floats>(x);
    v[1] = Load<Floats>(x + kLanes);
  } else if constexpr (F::kMantissa == 7) {
    const Words pairs = Load<Words>(x);
    v[0] = BitCast<Floats>(pairs << 16);
    v[1] = BitCast<Floats>(pairs & 0xffff0000);
  } else {
#if NANWATCH_LOADS_HALVES
    v[0] = LoadHalves(x);
    v[1] = LoadHalves(x + kLanes);
#else
    const Words pairs = Load<Words>(x);
    v[0] = WidenHalves(pairs & 0xffff);
    v[1] = WidenHalves(pairs >> 16);
#endif
  }
}

// floor(log2|v|) of normal floats; of zero: anything.
inline Floats ExponentsOf(Floats v) {
#if defined(__AVX512F__)
  return _mm512_getexp_ps(v);
#else
  const Words field = BitCast<Words>(v) >> 23 & 0xff;
  return __builtin_convertvector(BitCast<Integers>(field) - 127, Floats);
#endif
}

// |v| / 2^floor(log2|v|): from 1 to below 2.
inline Floats MantissasOf(Floats v) {
#if defined(__AVX512F__)
  return _mm512_getmant_ps(v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
#else
  return BitCast<Floats>((BitCast<Words>(v) & 0x007fffff) | 0x3f800000);
#endif
}

// Of the lower half of each lane.
inline Longs Products(Longs a, Longs b) {
#if defined(__AVX512F__)
  return BitCast<Longs>(
      _mm512_mul_epu32(BitCast<__m512i>(a), BitCast<__m512i>(b)));
#elif defined(__AVX2__)
  return BitCast<Longs>(
      _mm256_mul_epu32(BitCast<__m256i>(a), BitCast<__m256i>(b)));
#elif defined(__SSE2__)
  return BitCast<Longs>(
      _mm_mul_epu32(BitCast<__m128i>(a), BitCast<__m128i>(b)));
#elif defined(__ARM_NEON)
  return BitCast<Longs>(vmull_u32(vmovn_u64(BitCast<uint64x2_t>(a)),
                                  vmovn_u64(BitCast<uint64x2_t>(b))));
#else
  return (a & 0xffffffff) * (b & 0xffffffff);
#endif
}

// Of all lanes, in the type Lane.
template <typename Lane, typename Vector>
Lane Total(Vector v) {
  constexpr size_t kCount = sizeof(v) / sizeof(Lane);
  Lane lanes[kCount];
  __builtin_memcpy(lanes, &v, sizeof(v));
  for (size_t half = kCount / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_LANES_H_
