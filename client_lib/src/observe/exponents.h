// Counts of binary exponents. See extremes.h for what these headers must not
// do.

#ifndef NANWATCH_OBSERVE_EXPONENTS_H_
#define NANWATCH_OBSERVE_EXPONENTS_H_

#include "extremes.h"

namespace nanwatch {
namespace {

// Bins are numbered from the smallest subnormal's exponent: one a bit of the
// mantissa, then one an exponent field.
template <typename F>
int BinOf(typename F::Bits magnitude) {
  if (magnitude >= F::kMinNormal) {
    return static_cast<int>(magnitude >> F::kMantissa) - 1 + F::kMantissa;
  }
  return 63 - __builtin_clzll(magnitude);
}

// The smallest magnitude of a bin.
template <typename F>
typename F::Bits FirstOf(int bin) {
  using Bits = typename F::Bits;
  if (bin < F::kMantissa) return static_cast<Bits>(Bits{1} << bin);
  return static_cast<Bits>(static_cast<Bits>(bin - F::kMantissa + 1)
                           << F::kMantissa);
}

// How many magnitudes are at least the first of each of four bins.
template <typename F>
void CountFrom(Elements<F> x, size_t n, int bin, uint64_t at_least[4]) {
  using Bits = typename F::Bits;
  const Bits first[4] = {FirstOf<F>(bin), FirstOf<F>(bin + 1),
                         FirstOf<F>(bin + 2), FirstOf<F>(bin + 3)};
  Bits a = 0, b = 0, c = 0, d = 0;
  for (size_t i = 0; i < n; ++i) {
    const Bits m = static_cast<Bits>(x[i] & F::kMagnitude);
    a = static_cast<Bits>(a + (m >= first[0]));
    b = static_cast<Bits>(b + (m >= first[1]));
    c = static_cast<Bits>(c + (m >= first[2]));
    d = static_cast<Bits>(d + (m >= first[3]));
  }
  at_least[0] = a;
  at_least[1] = b;
  at_least[2] = c;
  at_least[3] = d;
}

// Adds a block to `exponents`. Magnitudes of a block lie near each other: a
// comparison a bin, in vectors, beats a table; unless they do not.
// REQUIRES: lowest, highest: of finite non-zero ones, of which there are some;
// specials: how many are not finite; zeros.
template <typename F>
void CountExponents(Elements<F> x, size_t n, typename F::Bits lowest,
                    typename F::Bits highest, uint64_t zeros, uint64_t specials,
                    uint64_t* exponents) {
  constexpr int kLanes = 64 / sizeof(typename F::Bits);
  const int first = BinOf<F>(lowest);
  const int last = BinOf<F>(highest);
  if (last - first > 2 * kLanes) {
    for (size_t i = 0; i < n; ++i) {
      const auto m = static_cast<typename F::Bits>(x[i] & F::kMagnitude);
      if (m > 0 && m < F::kFirstSpecial) ++exponents[BinOf<F>(m)];
    }
    return;
  }
  uint64_t at_least = n - zeros;
  for (int bin = first; bin < last; bin += 4) {
    uint64_t above[4];
    CountFrom<F>(x, n, bin + 1, above);
    for (int i = 0; i < 4 && bin + i < last; ++i) {
      exponents[bin + i] += at_least - above[i];
      at_least = above[i];
    }
  }
  exponents[last] += at_least - specials;
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_EXPONENTS_H_
