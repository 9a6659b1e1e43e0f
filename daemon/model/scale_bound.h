// A loss scale of which only a bound is known, since a log printed it with too
// few digits: "0", "0.0". It is told as a number that no scaler comes to, a
// trillionth above the bound. So it is a number like any other for rules,
// history and pages, and what is put in words says no more than the log does:
// "0 as printed".

#ifndef NANWATCH_MODEL_SCALE_BOUND_H_
#define NANWATCH_MODEL_SCALE_BOUND_H_

#include <cmath>
#include <optional>

namespace nanwatch {

// Far above what rounding does to a double, far below what a scaler does.
inline constexpr double kBoundMark = 1 + 0x1p-40;

// Returns a scale that is no more than `bound`, a power of two.
inline double AtMost(double bound) { return bound * kBoundMark; }

// Returns the bound where `scale` was told so.
inline std::optional<double> BoundOf(double scale) {
  int exponent = 0;
  if (std::frexp(scale, &exponent) != kBoundMark / 2) return std::nullopt;
  return std::ldexp(0.5, exponent);
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SCALE_BOUND_H_
