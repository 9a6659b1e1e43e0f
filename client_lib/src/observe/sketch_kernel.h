// Adds a part of a tensor to its digest and its sketch, a block at a time. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_SKETCH_KERNEL_H_
#define NANWATCH_OBSERVE_SKETCH_KERNEL_H_

#include "lanes.h"
#include "sketch_numbers.h"
#include "tally.h"

namespace nanwatch {
namespace {

// What a word of a digest and the bits of a value lie in.
template <typename Bits>
struct WordOf {
  using Type = uint32_t;
};
template <>
struct WordOf<uint64_t> {
  using Type = uint64_t;
};

// Of keys times words from the place `begin` of a block on. REQUIRES: `n` a
// multiple of kSketchSums.
inline uint64_t SumOfWords(const uint32_t* x, size_t begin, size_t n) {
  const uint32_t* low = kSketchTables.key_low + begin;
  const uint32_t* high = kSketchTables.key_high + begin;
  Longs of_low = {}, of_high = {};
  for (size_t i = 0; i < n; i += kLanes) {
    const Longs v = Load<Longs>(x + i), a = Load<Longs>(low + i),
                b = Load<Longs>(high + i);
    of_low += Products(v, a) + Products(v >> 32, a >> 32);
    of_high += Products(v, b) + Products(v >> 32, b >> 32);
  }
  return Total<uint64_t>(of_low + (of_high << 32));
}

inline uint64_t SumOfWords(const uint64_t* x, size_t begin, size_t n) {
  const uint32_t* low = kSketchTables.key_low + begin;
  const uint32_t* high = kSketchTables.key_high + begin;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t word = (x[i] & 0xffffffffu) + kGolden * (x[i] >> 32);
    sum += (uint64_t{high[i]} << 32 | low[i]) * word;
  }
  return sum;
}

// Of values with their signs, by sums. As SumOfWords.
inline void SumValues(const uint32_t* x, size_t begin, size_t n, double* sums) {
  const uint32_t* sign = kSketchTables.sign + begin;
  for (size_t i = 0; i < n; i += kSketchSums) {
    for (size_t j = 0; j < kSketchSums; ++j) {
      sums[j] += static_cast<double>(BitCast<float>(x[i + j] ^ sign[i + j]));
    }
  }
}

inline void SumValues(const uint64_t* x, size_t begin, size_t n, double* sums) {
  const uint32_t* sign = kSketchTables.sign + begin;
  for (size_t i = 0; i < n; i += kSketchSums) {
    for (size_t j = 0; j < kSketchSums; ++j) {
      sums[j] += BitCast<double>(x[i + j] ^ uint64_t{sign[i + j]} << 32);
    }
  }
}

inline bool AreFinite(const double* sums) {
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
  bool finite = true;
  for (size_t j = 0; j < kSketchSums; ++j) {
    uint64_t bits;
    __builtin_memcpy(&bits, sums + j, sizeof(bits));
    finite &= (bits & kInfinity) != kInfinity;
  }
  return finite;
}

// The bits of an infinite or NaN float. REQUIRES: `magnitude` is special.
template <typename F>
uint32_t SpecialOf(uint32_t magnitude) {
  return F::kInfinities && magnitude == F::kFirstSpecial ? 0x7f800000u
                                                         : 0x7fc00000u;
}

// The float (of fp64: the double) of each element, as bits.
template <typename F, typename Wide>
void ToValues(Elements<F> x, size_t n, Wide* out) {
  if constexpr (sizeof(typename F::Bits) >= 4) {
    for (size_t i = 0; i < n; ++i) out[i] = x[i];
  } else if constexpr (F::kMantissa == 10) {
    alignas(64) float values[kBlock];
    size_t done = 0;
#if NANWATCH_LOADS_HALVES
    for (; done + kLanes <= n; done += kLanes) {
      const Floats v = LoadHalves(x + done);
      __builtin_memcpy(values + done, &v, sizeof(v));
    }
#endif
    for (; done < n; ++done) values[done] = WidenHalf(x[done]);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t magnitude = x[i] & F::kMagnitude;
      const bool finite = magnitude < F::kFirstSpecial;
      out[i] = finite ? BitCast<uint32_t>(values[i]) : SpecialOf<F>(magnitude);
    }
  } else if constexpr (F::kMantissa == 7) {
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<Wide>(x[i]) << 16;
  } else {
    for (size_t i = 0; i < n; ++i) {
      const uint32_t byte = x[i];
      const uint32_t magnitude = byte & F::kMagnitude;
      const bool finite = magnitude < F::kFirstSpecial;
      // e5m2 is the upper byte of a half; e4m3's magnitude, shifted to a
      // half's, is of an exponent whose bias is 8 less.
      const uint32_t half = F::kInfinities
                                ? byte << 8
                                : (byte & 0x80u) << 8 | (byte & 0x7fu) << 7;
      const float value = WidenHalf(static_cast<uint16_t>(half));
      out[i] = finite ? BitCast<uint32_t>(F::kInfinities ? value : 256 * value)
                      : SpecialOf<F>(magnitude);
    }
  }
}

constexpr uint32_t InfinityOf(uint32_t) { return 0x7f800000u; }
constexpr uint64_t InfinityOf(uint64_t) { return uint64_t{0x7ff} << 52; }

// Counts what is not finite and puts 0 in its place.
template <typename Wide>
void TakeOutSpecials(Wide* x, size_t n, SketchTally* tally) {
  constexpr Wide kInfinity = InfinityOf(Wide{});
  constexpr Wide kMagnitude = static_cast<Wide>(~Wide{0}) >> 1;
  for (size_t i = 0; i < n; ++i) {
    const Wide magnitude = x[i] & kMagnitude;
    tally->nan += magnitude > kInfinity;
    tally->inf += magnitude == kInfinity;
    x[i] = magnitude >= kInfinity ? 0 : x[i];
  }
}

// Adds `n` elements of one block from its `place` on. They are put into whole
// rows of the block, between zeros, which add nothing.
template <typename F>
void AddPiece(Elements<F> x, uint64_t block, size_t place, size_t n,
              unsigned what, SketchTally* tally) {
  using Wide = typename WordOf<typename F::Bits>::Type;
  const size_t skip = place % kSketchSums;
  const size_t begin = place - skip;
  const size_t rows = (skip + n + kSketchSums - 1) / kSketchSums * kSketchSums;
  alignas(64) Wide room[kSketchBlock];
  for (size_t i = 0; i < skip; ++i) room[i] = 0;
  for (size_t i = skip + n; i < rows; ++i) room[i] = 0;
  if (what & NANWATCH_OBSERVE_DIGEST) {
    for (size_t i = 0; i < n; ++i) room[skip + i] = x[i];
    tally->digest += FactorOfBlock(block) * SumOfWords(room, begin, rows);
  }
  if ((what & NANWATCH_OBSERVE_SKETCH) == 0) return;
  ToValues<F>(x, n, room + skip);
  double sums[kSketchSums] = {};
  SumValues(room, begin, rows, sums);
  if (!AreFinite(sums)) {
    TakeOutSpecials(room, rows, tally);
    for (double& sum : sums) sum = 0;
    SumValues(room, begin, rows, sums);
  }
  const uint64_t signs = SignsOfBlock(block);
  for (size_t j = 0; j < kSketchSums; ++j) {
    tally->sums[j] += (signs >> j & 1) != 0 ? -sums[j] : sums[j];
  }
}

template <typename F>
void AddElements(const void* data, size_t n, uint64_t first, unsigned what,
                 SketchTally* tally) {
  auto x = static_cast<Elements<F>>(data);
  while (n > 0) {
    const size_t place = first % kSketchBlock;
    const size_t room = kSketchBlock - place;
    const size_t piece = n < room ? n : room;
    AddPiece<F>(x, first / kSketchBlock, place, piece, what, tally);
    x += piece;
    first += piece;
    n -= piece;
  }
}

void SketchAny(const void* data, size_t n, nanwatch_dtype dtype, uint64_t first,
               unsigned what, SketchTally* tally) {
  switch (dtype) {
    case NANWATCH_FP64:
      return AddElements<Fp64Format>(data, n, first, what, tally);
    case NANWATCH_FP32:
      return AddElements<Fp32Format>(data, n, first, what, tally);
    case NANWATCH_FP16:
      return AddElements<Fp16Format>(data, n, first, what, tally);
    case NANWATCH_BF16:
      return AddElements<Bf16Format>(data, n, first, what, tally);
    case NANWATCH_FP8_E4M3:
      return AddElements<Fp8E4M3Format>(data, n, first, what, tally);
    case NANWATCH_FP8_E5M2:
      return AddElements<Fp8E5M2Format>(data, n, first, what, tally);
    case NANWATCH_DTYPE_UNKNOWN:
      break;
  }
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_SKETCH_KERNEL_H_
