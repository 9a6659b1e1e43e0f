// ScaleFit: which loss scales suit one gradient tensor, as one status of it
// tells. All bounds are log2 of a factor on the scale that the tensor has.

#ifndef NANWATCH_SCALER_SCALE_FIT_H_
#define NANWATCH_SCALER_SCALE_FIT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "scaler/headroom.h"

namespace nanwatch {

// How much of a tensor its status shows.
enum class Sight : uint8_t {
  kNone,  // nothing: not collected
  kSeen,  // its values
  kCut,   // those above the smallest number: more is missing than may be
  kLost,  // nothing but zeros: its bounds are those of what is lost
};
constexpr Sight Last(Sight) { return Sight::kLost; }

struct ScaleFit {
  float low = 0;   // below it more than kUnderflowAllowed is lost; NaN: unknown
  float high = 0;  // above it the largest value overflows; NaN: unknown
  float lost = 0;  // share of its elements that are lost at present
  // And at most that share of its sum of squares: what harm that does. Many
  // small elements beside large ones do none.
  float harm = 0;
  Sight sight = Sight::kNone;
};

struct GradientStatus {
  TensorRange range;
  std::optional<double> lowest;  // LowestExact, or else LowestOf
  std::optional<float> abs_max;
  // Finite elements that are not 0, a binary exponent from `first` on; empty:
  // not collected.
  std::span<const uint64_t> exponents;
  int32_t first = 0;
};

// Bits that a loss scale keeps below the largest number.
inline constexpr float kScaleMargin = 1;  // ours, as GradientRange::BestBits

// Zeros by themselves are not taken for lost (a mask, a ReLU): what is lost
// leaves others behind just above the smallest number, and how these fall off
// says how many there were below. `margin`: bits that are kept free above.
ScaleFit FitOf(const GradientStatus& status, float margin);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_SCALE_FIT_H_
