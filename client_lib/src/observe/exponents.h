// Counts of binary exponents. See extremes.h for what these headers must not
// do.

#ifndef NANWATCH_OBSERVE_EXPONENTS_H_
#define NANWATCH_OBSERVE_EXPONENTS_H_

#include "bit_planes.h"
#include "extremes.h"

namespace nanwatch {
namespace {

// Bins are numbered from the smallest subnormal's exponent: one a bit of the
// mantissa, then one an exponent field. REQUIRES: magnitude > 0.
template <typename F>
int BinOf(typename F::Bits magnitude) {
  if (magnitude >= F::kMinNormal) {
    return static_cast<int>(magnitude >> F::kMantissa) - 1 + F::kMantissa;
  }
  return 63 - __builtin_clzll(magnitude);
}

// How many of the `kBlock` bytes at `steps` are at least `least`, least + 1,
// ... Bytes, whatever the format: most lanes in a vector.
template <int kThresholds>
void CountFrom(const uint8_t* steps, int least, uint64_t* at_least) {
  for (int t = 0; t < kThresholds; ++t) {
    const uint8_t threshold = static_cast<uint8_t>(least + t);
    uint64_t count = 0;
    // 128 at a time, so that a byte holds their count.
    for (size_t i = 0; i < kBlock; i += 128) {
      uint8_t part = 0;
      for (size_t j = i; j < i + 128; ++j) {
        part = static_cast<uint8_t>(part + (steps[j] >= threshold));
      }
      count += part;
    }
    at_least[t] = count;
  }
}

// As many as are wanted, and up to three more.
constexpr int kMostThresholds = 12;
inline int CountUpTo(const uint8_t* steps, int least, int wanted,
                     uint64_t* at_least) {
  if (wanted > 8) {
    CountFrom<kMostThresholds>(steps, least, at_least);
    return kMostThresholds;
  }
  if (wanted > 4) {
    CountFrom<8>(steps, least, at_least);
    return 8;
  }
  CountFrom<4>(steps, least, at_least);
  return 4;
}

// What a block has, beside what the bins need.
template <typename F>
struct BlockCounts {
  typename F::Bits lowest_normal = 0;  // meaningless without normal ones
  typename F::Bits highest = 0;        // finite
  uint64_t normal = 0;                 // finite ones
  uint64_t special = 0;
  uint64_t zero = 0;
  uint64_t subnormal = 0;
};

// Adds the elements below `end` that are not zero. They are rare: looks for
// them in vectors first, in a chunk and then in its parts.
template <typename F, size_t kChunk = 512>
void CountLowExponents(Elements<F> x, size_t n, typename F::Bits end,
                       uint64_t* exponents) {
  using Bits = typename F::Bits;
  const Bits limit = static_cast<Bits>(end - 1);
  // Less 1, so that zero is large.
  const auto rank = [x](size_t i) {
    return static_cast<Bits>((x[i] & F::kMagnitude) - 1);
  };
  for (size_t begin = 0; begin < n; begin += kChunk) {
    const size_t stop = n - begin < kChunk ? n : begin + kChunk;
    Bits lowest = static_cast<Bits>(-1);
    for (size_t i = begin; i < stop; ++i) {
      lowest = rank(i) < lowest ? rank(i) : lowest;
    }
    if (lowest >= limit) continue;
    if constexpr (kChunk > 64) {
      CountLowExponents<F, kChunk / 8>(x + begin, stop - begin, end, exponents);
    } else {
      for (size_t i = begin; i < stop; ++i) {
        if (rank(i) >= limit) continue;
        ++exponents[BinOf<F>(static_cast<Bits>(x[i] & F::kMagnitude))];
      }
    }
  }
}

// Adds the elements of the exponent fields `first` and the `fields` - 1 after
// it to `bins`. Below `first` are only zeros and subnormal ones.
#if defined(__AVX2__)
template <typename F>
void CountFields(Elements<F> x, size_t n, const BlockCounts<F>& /*block*/,
                 typename F::Bits first, int fields, uint64_t* bins) {
  // How far each field lies above the first one. In a byte a smaller one comes
  // round to a number beyond `fields`, but for those of doubles.
  using Bits = typename F::Bits;
  alignas(64) uint8_t above[kBlock];
  for (size_t i = 0; i < n; ++i) {
    const Bits field =
        static_cast<Bits>((x[i] & F::kMagnitude) >> F::kMantissa);
    const Bits step = static_cast<Bits>(field - first);
    above[i] =
        static_cast<uint8_t>(sizeof(Bits) < 8 || step < 255 ? step : 255);
  }
  for (size_t i = n; i < kBlock; ++i) above[i] = 255;
  for (int begin = 0; begin < fields; begin += 8) {
    const int wanted = fields - begin;
    CountEight(above, begin, wanted < 8 ? wanted : 8, bins + begin);
  }
}
#else
template <typename F>
void CountFields(Elements<F> x, size_t n, const BlockCounts<F>& block,
                 typename F::Bits first, int fields, uint64_t* bins) {
  using Bits = typename F::Bits;
  // 0 below the first field, 1 in it, and so on.
  alignas(64) uint8_t steps[kBlock];
  const Bits before = static_cast<Bits>(first - 1);
  for (size_t i = 0; i < n; ++i) {
    const Bits field =
        static_cast<Bits>((x[i] & F::kMagnitude) >> F::kMantissa);
    const Bits step =
        static_cast<Bits>((field > before ? field : before) - before);
    steps[i] =
        static_cast<uint8_t>(sizeof(Bits) < 8 || step < 255 ? step : 255);
  }
  for (size_t i = n; i < kBlock; ++i) steps[i] = 0;
  uint64_t at_least = block.normal + block.special;
  for (int step = 2; step <= fields;) {
    uint64_t counts[kMostThresholds];
    const int counted = CountUpTo(steps, step, fields - step + 1, counts);
    for (int t = 0; t < counted && step <= fields; ++t, ++step) {
      bins[step - 2] += at_least - counts[t];
      at_least = counts[t];
    }
  }
  bins[fields - 1] += at_least - block.special;
}
#endif

// Adds a block to `exponents`. Magnitudes of a block lie near each other:
// vectors of bytes beat a table; unless they do not.
template <typename F>
void CountExponents(Elements<F> x, size_t n, const BlockCounts<F>& block,
                    uint64_t* exponents) {
  using Bits = typename F::Bits;
  constexpr int kMostFields = 64;
  const Bits first = static_cast<Bits>(block.lowest_normal >> F::kMantissa);
  const Bits last = static_cast<Bits>(block.highest >> F::kMantissa);
  const bool wide = last > first && last - first >= kMostFields;
  if (block.subnormal > 0 || (wide && block.normal > 0)) {
    CountLowExponents<F>(x, n, wide ? F::kFirstSpecial : F::kMinNormal,
                         exponents);
  }
  if (wide || block.normal == 0) return;
  CountFields<F>(x, n, block, first, static_cast<int>(last - first) + 1,
                 exponents + first - 1 + F::kMantissa);
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_EXPONENTS_H_
