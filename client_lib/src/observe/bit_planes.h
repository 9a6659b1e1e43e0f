// How often small numbers occur among the bytes of a block: each becomes a bit
// of its own, and bits are added as in a circuit, 256 at a time. See extremes.h
// for what these headers must not do.

#ifndef NANWATCH_OBSERVE_BIT_PLANES_H_
#define NANWATCH_OBSERVE_BIT_PLANES_H_

#if defined(__AVX2__)

#include "lanes.h"

namespace nanwatch {
namespace {

typedef uint8_t Bytes __attribute__((vector_size(kVector)));

// Of each byte that is at most 7, a bit: the highest one of 0. A shuffle looks
// at the lower four bits of a byte, and gives 0 where its highest is set.
#if defined(__AVX512BW__)
inline Bytes BitOf(Bytes v) {
  const __m512i bits = _mm512_set1_epi64(0x0102040810204080);
  return BitCast<Bytes>(_mm512_shuffle_epi8(
      bits, _mm512_adds_epu8(BitCast<__m512i>(v), _mm512_set1_epi8(120))));
}
// How many bytes have their highest bit set.
inline uint64_t CountHighest(Bytes bytes) {
  return static_cast<uint64_t>(
      __builtin_popcountll(_mm512_movepi8_mask(BitCast<__m512i>(bytes))));
}
#else
inline Bytes BitOf(Bytes v) {
  const __m256i bits = _mm256_set1_epi64x(0x0102040810204080);
  return BitCast<Bytes>(_mm256_shuffle_epi8(
      bits, _mm256_adds_epu8(BitCast<__m256i>(v), _mm256_set1_epi8(120))));
}
inline uint64_t CountHighest(Bytes bytes) {
  const int bits = _mm256_movemask_epi8(BitCast<__m256i>(bytes));
  return static_cast<uint64_t>(__builtin_popcount(static_cast<unsigned>(bits)));
}
#endif

// Adds `a` and `b` to a plane, bit by bit, and returns what is carried to the
// next plane.
__attribute__((always_inline)) inline Bytes AddToPlane(Bytes a, Bytes b,
                                                       Bytes* plane) {
#if defined(__AVX512F__)
  const auto p = BitCast<__m512i>(*plane), q = BitCast<__m512i>(a),
             r = BitCast<__m512i>(b);
  *plane = BitCast<Bytes>(_mm512_ternarylogic_epi64(p, q, r, 0x96));
  return BitCast<Bytes>(_mm512_ternarylogic_epi64(p, q, r, 0xe8));
#else
  const Bytes either = *plane ^ a;
  const Bytes carry = (*plane & a) | (either & b);
  *plane = either ^ b;
  return carry;
#endif
}

// Adds kVector * 2^kPlanes bytes, less `first`, to the planes; returns what is
// carried.
template <int kPlanes>
__attribute__((always_inline)) inline Bytes AddBytes(const uint8_t* bytes,
                                                     uint8_t first,
                                                     Bytes* planes) {
  if constexpr (kPlanes == 0) {
    return BitOf(Load<Bytes>(bytes) - first);
  } else {
    const Bytes a = AddBytes<kPlanes - 1>(bytes, first, planes);
    const Bytes b =
        AddBytes<kPlanes - 1>(bytes + (kVector / 2 << kPlanes), first, planes);
    return AddToPlane(a, b, &planes[kPlanes - 1]);
  }
}

// Adds how many of a block's bytes are `first`, first + 1, ... as many as
// `wanted`. REQUIRES: `wanted` at most 8.
inline void CountEight(const uint8_t* bytes, int first, int wanted,
                       uint64_t* counts) {
  constexpr int kPlanes = __builtin_ctz(kBlock / kVector);
  static_assert(kVector << kPlanes == kBlock);
  Bytes planes[kPlanes + 1] = {};
  planes[kPlanes] =
      AddBytes<kPlanes>(bytes, static_cast<uint8_t>(first), planes);
  for (int number = 0; number < wanted; ++number) {
    for (int p = 0; p <= kPlanes; ++p) {
      counts[number] += CountHighest(planes[p]) << p;
      planes[p] += planes[p];
    }
  }
}

}  // namespace
}  // namespace nanwatch

#endif  // __AVX2__

#endif  // NANWATCH_OBSERVE_BIT_PLANES_H_
