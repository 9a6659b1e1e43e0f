// Half: IEEE binary16 as g++ knows it, and whole buffers of it to and from
// float. Every conversion to Half is the CPU's own and raises the CPU's
// floating-point flags: out of range raises FE_OVERFLOW.

#ifndef NANWATCH_WORD2VEC_HALF_H_
#define NANWATCH_WORD2VEC_HALF_H_

#include <cstddef>
#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace word2vec {

using Half = _Float16;

inline constexpr float kMaxHalf = 65504.0f;
inline constexpr uint16_t kMaxHalfBits = 0x7bff;
inline constexpr uint16_t kInfHalfBits = 0x7c00;

inline void ToFloat(const Half* from, size_t n, float* to) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

inline void FromFloat(const float* from, size_t n, Half* to) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_CUR_DIRECTION);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<Half>(from[i]);
}

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_HALF_H_
