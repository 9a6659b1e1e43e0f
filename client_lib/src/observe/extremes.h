// Passes over a block that tell counts and ranges on the bits alone.
//
// The headers that observe_*.cc include are compiled once an instruction set.
// All they define is in an anonymous namespace, and they call no inline
// function of the standard library: a linker that merged two copies could put
// AVX-512 into the baseline.

#ifndef NANWATCH_OBSERVE_EXTREMES_H_
#define NANWATCH_OBSERVE_EXTREMES_H_

#include <cstddef>
#include <cstdint>

#include "format.h"
#include "tally.h"

namespace nanwatch {
namespace {

// Elements as they lie in the buffer, at any address.
typedef uint8_t __attribute__((aligned(1), may_alias)) Unaligned8;
typedef uint16_t __attribute__((aligned(1), may_alias)) Unaligned16;
typedef uint32_t __attribute__((aligned(1), may_alias)) Unaligned32;
typedef uint64_t __attribute__((aligned(1), may_alias)) Unaligned64;
template <typename Bits>
struct UnalignedOf;
template <>
struct UnalignedOf<uint8_t> {
  using Type = Unaligned8;
  using Signed = int8_t;
};
template <>
struct UnalignedOf<uint16_t> {
  using Type = Unaligned16;
  using Signed = int16_t;
};
template <>
struct UnalignedOf<uint32_t> {
  using Type = Unaligned32;
  using Signed = int32_t;
};
template <>
struct UnalignedOf<uint64_t> {
  using Type = Unaligned64;
  using Signed = int64_t;
};
template <typename F>
using Elements = const typename UnalignedOf<typename F::Bits>::Type*;
template <typename F>
using Key = typename UnalignedOf<typename F::Bits>::Signed;

// Fits the first cache, and 16-bit counters hold it. What is done once a block
// weighs more where vectors are wide.
#if defined(__AVX512BW__)
constexpr size_t kBlock = 2048;
#else
constexpr size_t kBlock = 1024;
#endif

// Magnitudes and values of a block, special ones included.
template <typename F>
struct Extremes {
  typename F::Bits lowest = 0;   // magnitude
  typename F::Bits highest = 0;  // magnitude
  typename F::Bits min = 0;      // bits of the smallest value
  typename F::Bits max = 0;      // bits of the largest value
};

// Read as unsigned numbers, bits order the positive values, then the negative
// ones by magnitude; read as signed numbers, the negative ones by magnitude,
// then the positive. Both extremes of both orders tell all. REQUIRES: n > 0.
template <typename F>
Extremes<F> FindExtremes(Elements<F> x, size_t n) {
  using Bits = typename F::Bits;
  Bits low = static_cast<Bits>(-1), high = 0;
  Key<F> signed_low = static_cast<Key<F>>(F::kMagnitude);
  Key<F> signed_high = static_cast<Key<F>>(F::kSign);
  for (size_t i = 0; i < n; ++i) {
    const Bits bits = x[i];
    const Key<F> key = static_cast<Key<F>>(bits);
    low = bits < low ? bits : low;
    high = bits > high ? bits : high;
    signed_low = key < signed_low ? key : signed_low;
    signed_high = key > signed_high ? key : signed_high;
  }
  const bool any_negative = high >= F::kSign;
  const bool any_positive = low < F::kSign;
  const Bits lowest_negative = static_cast<Bits>(signed_low & F::kMagnitude);
  const Bits highest_negative = static_cast<Bits>(high & F::kMagnitude);
  const Bits highest_positive = static_cast<Bits>(signed_high);
  Extremes<F> e;
  e.min = any_negative ? high : low;
  e.max = any_positive ? highest_positive : low;
  e.lowest = static_cast<Bits>(low & F::kMagnitude);
  if (any_negative && lowest_negative < e.lowest) e.lowest = lowest_negative;
  e.highest = any_positive ? highest_positive : highest_negative;
  if (any_negative && highest_negative > e.highest) {
    e.highest = highest_negative;
  }
  return e;
}

// For blocks that reach the largest finite value or beyond: counts them, and
// returns the largest finite magnitude.
template <typename F>
typename F::Bits CountHigh(Elements<F> x, size_t n, Tally* tally) {
  using Bits = typename F::Bits;
  Bits nan = 0, pos = 0, neg = 0, saturated = 0, highest = 0;
  for (size_t i = 0; i < n; ++i) {
    const Bits bits = x[i];
    const Bits m = static_cast<Bits>(bits & F::kMagnitude);
    nan = static_cast<Bits>(nan + (m > F::kFirstSpecial));
    pos = static_cast<Bits>(pos + (bits == F::kFirstSpecial));
    neg = static_cast<Bits>(
        neg + (bits == static_cast<Bits>(F::kFirstSpecial | F::kSign)));
    saturated = static_cast<Bits>(saturated + (m == F::kFirstSpecial - 1));
    const Bits finite = m < F::kFirstSpecial ? m : Bits{0};
    highest = finite > highest ? finite : highest;
  }
  tally->nan += nan;
  tally->pos_inf += pos;
  tally->neg_inf += neg;
  tally->saturated += saturated;
  return highest;
}

// For blocks that reach below the smallest normal value: counts zeros and
// subnormal values, and returns the smallest magnitude that is normal (beyond
// them all when there is none).
template <typename F>
typename F::Bits CountLow(Elements<F> x, size_t n, Tally* tally) {
  using Bits = typename F::Bits;
  Bits non_zero = 0, normal = 0;
  Bits lowest = static_cast<Bits>(-1);  // less kMinNormal: low ones are large
  for (size_t i = 0; i < n; ++i) {
    // Minima rather than comparisons: AVX-512 compares into masks.
    const Bits m = static_cast<Bits>(x[i] & F::kMagnitude);
    const Bits field = static_cast<Bits>(m >> F::kMantissa);
    const Bits above = static_cast<Bits>(m - F::kMinNormal);
    non_zero = static_cast<Bits>(non_zero + (m < 1 ? m : Bits{1}));
    normal = static_cast<Bits>(normal + (field < 1 ? field : Bits{1}));
    lowest = above < lowest ? above : lowest;
  }
  tally->zero += n - non_zero;
  tally->subnormal += static_cast<uint64_t>(non_zero) - normal;
  return static_cast<Bits>(lowest + F::kMinNormal);
}

// Keys are in the order of the values: the magnitude of negative numbers is
// flipped.
template <typename F>
Key<F> KeyOf(typename F::Bits bits) {
  return static_cast<Key<F>>(bits >= F::kSign ? bits ^ F::kMagnitude : bits);
}
template <typename F>
typename F::Bits FromKey(Key<F> key) {
  using Bits = typename F::Bits;
  const Bits bits = static_cast<Bits>(key);
  return key < 0 ? static_cast<Bits>(bits ^ F::kMagnitude) : bits;
}

template <typename F>
struct Range {
  Key<F> lowest = static_cast<Key<F>>(F::kMagnitude);
  Key<F> highest = static_cast<Key<F>>(F::kSign);
  void Add(Key<F> low, Key<F> high) {
    lowest = low < lowest ? low : lowest;
    highest = high > highest ? high : highest;
  }
};

// Of finite elements only, for blocks that have special ones.
template <typename F>
void AddFiniteRange(Elements<F> x, size_t n, Range<F>* range) {
  using Bits = typename F::Bits;
  constexpr Key<F> kNoMin = static_cast<Key<F>>(F::kMagnitude);
  constexpr Key<F> kNoMax = static_cast<Key<F>>(F::kSign);
  Key<F> low = kNoMin;
  Key<F> high = kNoMax;
  for (size_t i = 0; i < n; ++i) {
    const Bits bits = x[i];
    const Key<F> key = KeyOf<F>(bits);
    const bool finite =
        static_cast<Bits>(bits & F::kMagnitude) < F::kFirstSpecial;
    const Key<F> for_min = finite ? key : kNoMin;
    const Key<F> for_max = finite ? key : kNoMax;
    low = for_min < low ? for_min : low;
    high = for_max > high ? for_max : high;
  }
  range->Add(low, high);
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_EXTREMES_H_
