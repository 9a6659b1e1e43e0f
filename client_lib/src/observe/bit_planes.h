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

#if defined(__AVX512BW__)
// Adds how many of a block's bytes are `first`, first + 1, ... as many as
// `wanted`. REQUIRES: `wanted` at most 8.
inline void CountEight(const uint8_t* bytes, int first, int wanted,
                       uint64_t* counts) {
  // Eight bytes are eight rows of bits: byte i of this picks column i.
  const __m512i bit_of =
      _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
  const __m512i none = _mm512_set1_epi8(120);  // as BitOf of AVX2
  constexpr size_t kPart = kBlock / 2;         // so that a byte holds its count
  Longs even = {}, odd = {};
  for (size_t begin = 0; begin < kBlock; begin += kPart) {
    Bytes sums = {};
    for (size_t i = begin; i < begin + kPart; i += kVector) {
      const Bytes number = Load<Bytes>(bytes + i) - static_cast<uint8_t>(first);
      const __m512i bits = _mm512_shuffle_epi8(
          bit_of, _mm512_adds_epu8(BitCast<__m512i>(number), none));
      sums += BitCast<Bytes>(
          _mm512_popcnt_epi8(_mm512_gf2p8affine_epi64_epi8(bit_of, bits, 0)));
    }
    even += BitCast<Longs>(sums) & 0x00ff00ff00ff00ff;
    odd += BitCast<Longs>(sums) >> 8 & 0x00ff00ff00ff00ff;
  }
  // Four counts of 16 bits each.
  const uint64_t parts[2] = {Total<uint64_t>(even), Total<uint64_t>(odd)};
  for (int i = 0; i < wanted; ++i) {
    counts[i] += parts[i % 2] >> (i / 2 * 16) & 0xffff;
  }
}
#else
// Of each byte that is at most 7, a bit: the highest one of 0. A shuffle looks
// at the lower four bits of a byte, and gives 0 where its highest is set.
inline Bytes BitOf(Bytes v) {
  const __m256i bits = _mm256_set1_epi64x(0x0102040810204080);
  return BitCast<Bytes>(_mm256_shuffle_epi8(
      bits, _mm256_adds_epu8(BitCast<__m256i>(v), _mm256_set1_epi8(120))));
}
// How many bytes have their highest bit set.
inline uint64_t CountHighest(Bytes bytes) {
  const int bits = _mm256_movemask_epi8(BitCast<__m256i>(bytes));
  return static_cast<uint64_t>(__builtin_popcount(static_cast<unsigned>(bits)));
}

// Adds `a` and `b` to a plane, bit by bit, and returns what is carried to the
// next plane.
__attribute__((always_inline)) inline Bytes AddToPlane(Bytes a, Bytes b,
                                                       Bytes* plane) {
  const Bytes either = *plane ^ a;
  const Bytes carry = (*plane & a) | (either & b);
  *plane = either ^ b;
  return carry;
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

#endif

}  // namespace
}  // namespace nanwatch

#endif  // __AVX2__

#endif  // NANWATCH_OBSERVE_BIT_PLANES_H_
