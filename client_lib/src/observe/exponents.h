// Counts of binary exponents. See extremes.h for what these headers must not
// do.

#ifndef NANWATCH_OBSERVE_EXPONENTS_H_
#define NANWATCH_OBSERVE_EXPONENTS_H_

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

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
// ... Bytes, whatever the format: most lanes in a vector. `before`: how many
// are at least least - 1.
template <int kThresholds>
void CountFrom(const uint8_t* steps, int least, uint64_t before,
               uint64_t* at_least) {
#if defined(__AVX512BW__)
  // AVX-512 compares into masks, and few a cycle. Sums of min(v, k) do without:
  // from k - 1 to k they grow by how many are at least k. A lane sums 16 bytes
  // of at most 13.
  static_assert(kThresholds + 1 <= 255 / (kBlock / 64));
  const __m512i base = _mm512_set1_epi8(static_cast<char>(least - 2));
  __m512i sums[kThresholds];
  __m512i tops[kThresholds];
  for (int t = 0; t < kThresholds; ++t) {
    sums[t] = _mm512_setzero_si512();
    tops[t] = _mm512_set1_epi8(static_cast<char>(t + 2));
  }
  for (size_t i = 0; i < kBlock; i += 64) {
    const __m512i v = _mm512_subs_epu8(_mm512_load_si512(steps + i), base);
    for (int t = 0; t < kThresholds; ++t) {
      sums[t] = _mm512_add_epi8(sums[t], _mm512_min_epu8(v, tops[t]));
    }
  }
  uint64_t last = before;
  for (int t = 0; t < kThresholds; ++t) {
    const uint64_t sum = static_cast<uint64_t>(_mm512_reduce_add_epi64(
        _mm512_sad_epu8(sums[t], _mm512_setzero_si512())));
    at_least[t] = sum - last;
    last = sum;
  }
#else
  (void)before;
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
#endif
}

// As many as are wanted, and up to three more.
constexpr int kMostThresholds = 12;
inline int CountUpTo(const uint8_t* steps, int least, int wanted,
                     uint64_t before, uint64_t* at_least) {
  if (wanted > 8) {
    CountFrom<kMostThresholds>(steps, least, before, at_least);
    return kMostThresholds;
  }
  if (wanted > 4) {
    CountFrom<8>(steps, least, before, at_least);
    return 8;
  }
  CountFrom<4>(steps, least, before, at_least);
  return 4;
}

// What a block has, beside what the bins need.
template <typename F>
struct BlockCounts {
  typename F::Bits lowest_normal = 0;  // meaningless without normal ones
  typename F::Bits highest = 0;        // finite
  uint64_t normal = 0;                 // finite ones
  uint64_t special = 0;
  uint64_t subnormal = 0;
};

// Adds the elements below `end` that are not zero. They are rare: looks for
// them in vectors first.
template <typename F>
void CountLowExponents(Elements<F> x, size_t n, typename F::Bits end,
                       uint64_t* exponents) {
  using Bits = typename F::Bits;
  constexpr size_t kChunk = 64;
  const Bits limit = static_cast<Bits>(end - 1);
  for (size_t begin = 0; begin < n; begin += kChunk) {
    const size_t stop = n - begin < kChunk ? n : begin + kChunk;
    Bits lowest = static_cast<Bits>(-1);  // less 1, so that zero is large
    for (size_t i = begin; i < stop; ++i) {
      const Bits m = static_cast<Bits>((x[i] & F::kMagnitude) - 1);
      lowest = m < lowest ? m : lowest;
    }
    if (lowest >= limit) continue;
    for (size_t i = begin; i < stop; ++i) {
      const Bits m = static_cast<Bits>(x[i] & F::kMagnitude);
      const bool counts = static_cast<Bits>(m - 1) < limit;
      exponents[counts ? BinOf<F>(m) : 0] += counts;
    }
  }
}

#if defined(__AVX2__) && !defined(__AVX512BW__)
template <typename Bits>
struct FieldOf {
  using Type = uint8_t;
};
template <>
struct FieldOf<uint64_t> {
  using Type = uint16_t;
};
#endif

// Adds the elements of the exponent fields `first` and the `fields` - 1 after
// it to `bins`. Below `first` are only zeros and subnormal ones.
#if defined(__AVX2__) && !defined(__AVX512BW__)
template <typename F>
void CountFields(Elements<F> x, size_t n, const BlockCounts<F>& /*block*/,
                 typename F::Bits first, int fields, uint64_t* bins) {
  // A byte holds a field of up to eight bits. One below `first` may come round
  // to a number then, but never to that of a field that is looked for.
  using Field = typename FieldOf<typename F::Bits>::Type;
  alignas(64) uint8_t marked[kBlock];
  for (int begin = 0; begin < fields; begin += kNumbers) {
    const Field from = static_cast<Field>(first + begin);
    for (size_t i = 0; i < n; ++i) {
      const Field field =
          static_cast<Field>((x[i] & F::kMagnitude) >> F::kMantissa);
      marked[i] = Mark(static_cast<Field>(field - from));
    }
    for (size_t i = n; i < kBlock; ++i) marked[i] = Mark(Field{kNumbers});
    const int wanted = fields - begin;
    CountEight(marked, 0, wanted < 8 ? wanted : 8, bins + begin);
    if (wanted <= 8) continue;
    CountEight(marked, 8, wanted < 16 ? wanted - 8 : 8, bins + begin + 8);
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
    const int counted =
        CountUpTo(steps, step, fields - step + 1, at_least, counts);
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
