// Sums of logarithms of a block of half precision, as integers: sixteen bits
// are enough for one, so a vector holds twice as many as of floats. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_HALF_LOGS_H_
#define NANWATCH_OBSERVE_HALF_LOGS_H_

#if defined(__AVX2__)

#include "moments.h"

namespace nanwatch {
namespace {

typedef uint16_t Halves __attribute__((vector_size(kVector)));
constexpr size_t kHalves = kVector / sizeof(uint16_t);

#if defined(__AVX512BW__)
// The products of signed neighbours, added up.
inline Words AddPairs(Halves a, Halves b) {
  return BitCast<Words>(
      _mm512_madd_epi16(BitCast<__m512i>(a), BitCast<__m512i>(b)));
}

// log2(1 + t) - t in units of 2^-16, at t = 0, 1/64, ..., and how it goes on to
// the next of them.
struct BendTables {
  alignas(64) int16_t begin[64];
  alignas(64) int16_t rise[64];
};
constexpr int BendOf(int i) {
  double m = 1 + i / 64.0;
  int log2 = 0;
  for (int bit = 0; bit < 18; ++bit) {  // each square gives a bit
    m *= m;
    log2 = 2 * log2 + (m >= 2);
    m = m >= 2 ? m / 2 : m;
  }
  return i < 64 ? (log2 + 2) / 4 - 1024 * i : 0;
}
constexpr BendTables MakeBendTables() {
  BendTables tables{};
  for (int i = 0; i < 64; ++i) {
    tables.begin[i] = static_cast<int16_t>(BendOf(i));
    tables.rise[i] = static_cast<int16_t>(BendOf(i + 1) - BendOf(i));
  }
  return tables;
}
constexpr BendTables kBendTables = MakeBendTables();

// log2(1 + t) - t in units of 2^-16, within 4 of them; exactly 0 at 0. `bits`:
// t in their lower ten. Between the places of the tables it is taken for
// straight.
inline Halves Bend(Halves bits) {
  const auto look_up = [](const int16_t* table, Halves at) {
    // It looks at the lower six bits of a place.
    return _mm512_permutex2var_epi16(Load<__m512i>(table), BitCast<__m512i>(at),
                                     Load<__m512i>(table + 32));
  };
  const Halves place = bits >> 4;
  const Halves beyond = bits << 11 & 0x7800;
  return BitCast<Halves>(
      _mm512_add_epi16(look_up(kBendTables.begin, place),
                       _mm512_mulhrs_epi16(look_up(kBendTables.rise, place),
                                           BitCast<__m512i>(beyond))));
}
#else
inline Words AddPairs(Halves a, Halves b) {
  return BitCast<Words>(
      _mm256_madd_epi16(BitCast<__m256i>(a), BitCast<__m256i>(b)));
}

// As above, within 3.6 of them. With h = t(1 - t), h(a + bt + h(c + t/32)): it
// is 0 at both ends, and products are what takes long.
inline Halves Bend(Halves bits) {
  const auto times = [](Halves a, Halves b) {
    return BitCast<Halves>(
        _mm256_mulhrs_epi16(BitCast<__m256i>(a), BitCast<__m256i>(b)));
  };
  const Halves zero = {};
  const Halves t = (bits & 0x3ff) << 5;  // in units of 2^-15
  // 1 - t. Of t = 0 it is -1 in this width; the product is 0 all the same.
  const Halves h = times(t, 0x8000 - t);
  const Halves c = (t >> 4) - 6358;
  const Halves a = times(t, zero - 10608) + 28903;
  return times(h, a + times(h, c));
}
#endif

// Adds log2|x| of a block, `zeros` of which are zero; of these nothing.
// REQUIRES: a whole block without special and subnormal values.
inline void AddHalfLogs(const void* block, uint64_t zeros, LogSums* logs) {
  const auto x = static_cast<const Unaligned16*>(block);
  // The bits of a half are its logarithm already, but for the bend between two
  // powers of two.
  constexpr uint16_t kOne = Fp16Format::kBias << Fp16Format::kMantissa;
  const Halves zero = {};
  Words sum = {};
  Halves left = {};  // 63 at most, at most 64 times
  Longs squares = {};
  for (size_t i = 0; i < kBlock; i += 8 * kHalves) {
    // As many pairs of squares as 32 bits hold: units are 16,383 at most.
    Words batch = {};
#pragma GCC unroll 1
    for (size_t j = 0; j < 8; ++j) {
      const Halves bits = Load<Halves>(x + i + j * kHalves) & 0x7fff;
      const Halves bend = Bend(bits);
      const Halves units = bits - kOne + (bend >> 6);  // of 2^-10
      left += bend & 63;
      sum += AddPairs(units, zero + 1);
      batch += AddPairs(units, units);
    }
    squares +=
        (BitCast<Longs>(batch) & 0xffffffff) + (BitCast<Longs>(batch) >> 32);
  }
  // The bits of zero say -kOne.
  const int64_t total =
      Total<int32_t>(sum) + static_cast<int64_t>(zeros) * kOne;
  const uint64_t total_squares = Total<uint64_t>(squares) - zeros * kOne * kOne;
  const auto rest = Total<int32_t>(AddPairs(left, zero + 1));
  logs->sum += static_cast<double>(total) * 0x1p-10;
  logs->squares += static_cast<double>(total_squares) * 0x1p-20;
  logs->left += static_cast<double>(rest) * 0x1p-16;
}

}  // namespace
}  // namespace nanwatch

#endif  // __AVX2__

#endif  // NANWATCH_OBSERVE_HALF_LOGS_H_
