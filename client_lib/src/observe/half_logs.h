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

// The bits of a half are its logarithm already, but for log2(1 + t) - t, the
// bend between two powers of two. Those of 1:
constexpr uint16_t kOne = Fp16Format::kBias << Fp16Format::kMantissa;

struct HalfLogs {
  Halves units;  // of 2^-10
  Halves lack;   // what sums of them lack, of kLack: see WordsOf
};

#if defined(__AVX512BW__)
// Adds the products of signed neighbours.
inline Words AddPairs(Words sum, Halves a, Halves b) {
  return BitCast<Words>(_mm512_dpwssd_epi32(
      BitCast<__m512i>(sum), BitCast<__m512i>(a), BitCast<__m512i>(b)));
}

inline Words WordsOf(Halves lack) { return BitCast<Words>(lack); }

// By the 64th that t lies in.
struct BendTables {
  // The bend in its middle, in units of 2^-10, less kOne.
  alignas(64) int16_t units[64];
  // What that lacks, in units of kLack: in the lower byte an eighth of it at
  // the beginning, in the upper one how it grows with each 1024th of t.
  alignas(64) uint16_t lack[64];
};
constexpr double kLack = 0x1p-18;
// As many pairs of squares as 32 bits hold: of units of 16,386 at most.
constexpr size_t kBatch = 4;

// In units of kLack, at i 64ths.
constexpr int BendAt(int i) {
  double m = 1 + i / 64.0;
  int log2 = 0;
  for (int bit = 0; bit < 19; ++bit) {  // each square gives a bit
    m *= m;
    log2 = 2 * log2 + (m >= 2);
    m = m >= 2 ? m / 2 : m;
  }
  return i < 64 ? (log2 + 1) / 2 - 4096 * i : 0;
}
constexpr int Rounded(int a, int b) {
  return a >= 0 ? (a + b / 2) / b : -((b / 2 - a) / b);
}
constexpr BendTables MakeBendTables() {
  BendTables tables{};
  for (int i = 0; i < 64; ++i) {
    const int rise = BendAt(i + 1) - BendAt(i);
    const int middle = Rounded(2 * BendAt(i) + rise, 512);
    const int begin = Rounded(BendAt(i) - 256 * middle, 8);
    tables.units[i] = static_cast<int16_t>(middle - kOne);
    tables.lack[i] =
        static_cast<uint16_t>(static_cast<uint8_t>(begin) |
                              static_cast<uint8_t>(Rounded(rise, 16)) << 8);
  }
  return tables;
}
constexpr BendTables kBendTables = MakeBendTables();
constexpr int kUnitsOfZero = kBendTables.units[0];
constexpr int kLackOfZero = 8 * static_cast<int8_t>(kBendTables.lack[0] & 255);

// log2 of each half in units of 2^-10, within 3.6 of them; and with what they
// lack added up, within 6e-5, exact at powers of two.
inline HalfLogs LogsOf(Halves bits, Halves lack) {
  const auto look_up = [](const void* table, Halves at) {
    // It looks at the lower six bits of a place.
    return _mm512_permutex2var_epi16(
        Load<__m512i>(table), BitCast<__m512i>(at),
        Load<__m512i>(static_cast<const uint8_t*>(table) + kVector));
  };
  const Halves place = bits >> 4;
  const Halves weights = (bits << 8 & 0x0f00) | 8;
  return {bits + BitCast<Halves>(look_up(kBendTables.units, place)),
          BitCast<Halves>(_mm512_dpbusd_epi32(
              BitCast<__m512i>(lack), BitCast<__m512i>(weights),
              look_up(kBendTables.lack, place)))};
}
#else
inline Words AddPairs(Words sum, Halves a, Halves b) {
  return sum + BitCast<Words>(
                   _mm256_madd_epi16(BitCast<__m256i>(a), BitCast<__m256i>(b)));
}

// Each lane of it grows by at most 63.
inline Words WordsOf(Halves lack) {
  return AddPairs(Words{}, lack, Halves{} + 1);
}

constexpr double kLack = 0x1p-16;
constexpr size_t kBatch = 8;  // the same, of 16,383
constexpr int kUnitsOfZero = -kOne;
constexpr int kLackOfZero = 0;

// As above, within 5 units of 2^-16. With h = t(1 - t) the bend is
// h(a + bt + h(c + t/32)): 0 at both ends, and products are what takes long.
inline HalfLogs LogsOf(Halves bits, Halves lack) {
  const auto times = [](Halves a, Halves b) {
    return BitCast<Halves>(
        _mm256_mulhrs_epi16(BitCast<__m256i>(a), BitCast<__m256i>(b)));
  };
  const Halves zero = {};
  const Halves t = bits << 5 & 0x7fff;  // in units of 2^-15
  const Halves h = times(t, t ^ 0x7fff);
  const Halves c = (t >> 4) - 6358;
  const Halves a = times(t, zero - 10608) + 28903;
  const Halves bend = times(h, a + times(h, c));
  return {bits - kOne + (bend >> 6), lack + (bend & 63)};
}
#endif

// Adds log2|x| of a block, `zeros` of which are zero; of these nothing.
// REQUIRES: a whole block without special and subnormal values.
inline void AddHalfLogs(const void* block, uint64_t zeros, LogSums* logs) {
  const auto x = static_cast<const Unaligned16*>(block);
  const Halves ones = Halves{} + 1;
  Words sum = {};
  Halves lack = {};
  Longs squares = {};
  for (size_t i = 0; i < kBlock; i += kBatch * kHalves) {
    Words batch = {};
#pragma GCC unroll 1
    for (size_t j = 0; j < kBatch; ++j) {
      const Halves bits = Load<Halves>(x + i + j * kHalves) & 0x7fff;
      const HalfLogs l = LogsOf(bits, lack);
      lack = l.lack;
      sum = AddPairs(sum, l.units, ones);
      batch = AddPairs(batch, l.units, l.units);
    }
    squares +=
        (BitCast<Longs>(batch) << 32 >> 32) + (BitCast<Longs>(batch) >> 32);
  }
  const double none = static_cast<double>(zeros);
  logs->sum += (Total<int32_t>(sum) - none * kUnitsOfZero) * 0x1p-10;
  logs->squares += (static_cast<double>(Total<uint64_t>(squares)) -
                    none * kUnitsOfZero * kUnitsOfZero) *
                   0x1p-20;
  logs->left += (Total<int32_t>(WordsOf(lack)) - none * kLackOfZero) * kLack;
}

}  // namespace
}  // namespace nanwatch

#endif  // __AVX2__

#endif  // NANWATCH_OBSERVE_HALF_LOGS_H_
