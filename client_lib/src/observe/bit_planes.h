// How often small numbers occur among the bytes of a block: each becomes a bit
// of its own, and bits are added as in a circuit, 256 at a time. See extremes.h
// for what these headers must not do.

#ifndef NANWATCH_OBSERVE_BIT_PLANES_H_
#define NANWATCH_OBSERVE_BIT_PLANES_H_

#if defined(__AVX2__) && !defined(__AVX512BW__)

#include <immintrin.h>

#include "extremes.h"

namespace nanwatch {
namespace {

// Numbers from 0 to 15 count. A shuffle looks at the lower four bits of a byte,
// and gives 0 where the highest is set: so others become 128.
constexpr uint8_t kNumbers = 16;
template <typename Number>
uint8_t Mark(Number number) {
  const Number some = number < kNumbers ? number : Number{kNumbers};
  return static_cast<uint8_t>(static_cast<uint8_t>(some) + 128 - kNumbers);
}

// Adds `a` and `b` to a plane, bit by bit, and returns what is carried to the
// next plane.
__attribute__((always_inline)) inline __m256i AddToPlane(__m256i a, __m256i b,
                                                         __m256i* plane) {
  const __m256i either = _mm256_xor_si256(*plane, a);
  const __m256i carry =
      _mm256_or_si256(_mm256_and_si256(*plane, a), _mm256_and_si256(either, b));
  *plane = _mm256_xor_si256(either, b);
  return carry;
}

// Adds 32 * 2^kPlanes bytes to the planes; returns what is carried.
template <int kPlanes>
__attribute__((always_inline)) inline __m256i AddBytes(const uint8_t* marked,
                                                       __m256i bit_of,
                                                       __m256i* planes) {
  if constexpr (kPlanes == 0) {
    return _mm256_shuffle_epi8(
        bit_of, _mm256_load_si256(reinterpret_cast<const __m256i*>(marked)));
  } else {
    const __m256i a = AddBytes<kPlanes - 1>(marked, bit_of, planes);
    const __m256i b =
        AddBytes<kPlanes - 1>(marked + (16 << kPlanes), bit_of, planes);
    return AddToPlane(a, b, &planes[kPlanes - 1]);
  }
}

// Adds how many of a block's marked bytes are `first`, first + 1, ... as many
// as `wanted`. REQUIRES: `first` is 0 or 8, `wanted` at most 8.
inline void CountEight(const uint8_t* marked, int first, int wanted,
                       uint64_t* counts) {
  constexpr int kPlanes = 5;
  static_assert(32 << kPlanes == kBlock);
  // The highest bit is the first number's: that which vpmovmskb takes.
  constexpr long long kBits = 0x0102040810204080;
  const __m256i bit_of = first == 0 ? _mm256_setr_epi64x(kBits, 0, kBits, 0)
                                    : _mm256_setr_epi64x(0, kBits, 0, kBits);
  __m256i planes[kPlanes + 1] = {};
  planes[kPlanes] = AddBytes<kPlanes>(marked, bit_of, planes);
  for (int number = 0; number < wanted; ++number) {
    for (int p = 0; p <= kPlanes; ++p) {
      const unsigned bits =
          static_cast<unsigned>(_mm256_movemask_epi8(planes[p]));
      counts[number] += static_cast<uint64_t>(__builtin_popcount(bits)) << p;
      planes[p] = _mm256_add_epi8(planes[p], planes[p]);
    }
  }
}

}  // namespace
}  // namespace nanwatch

#endif  // __AVX2__

#endif  // NANWATCH_OBSERVE_BIT_PLANES_H_
