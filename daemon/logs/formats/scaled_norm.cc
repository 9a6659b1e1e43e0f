#include "logs/formats/scaled_norm.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

// A line adds this at most: what many lines said, a spike does not overturn.
constexpr double kLineMax = 4;
constexpr double kEvidenceMax = 400;
// A factor of 20 nearer: believed.
constexpr double kEnough = 3;
// Below it, either reading is good enough.
constexpr double kSmallScale = 8;

}  // namespace

std::optional<double> ScaledNorm::Unscaled(double norm,
                                           std::optional<double> scale) {
  if (norm == 0 || !std::isfinite(norm)) return norm;
  const bool known = scale && std::isfinite(*scale) && *scale > 0;
  // What the lines before said decides; a first spike does not.
  const double before = evidence_;
  if (known && *scale > 1) {
    const double as_printed = std::fabs(std::log(norm));
    const double divided = std::fabs(std::log(norm / *scale));
    evidence_ += std::clamp(as_printed - divided, -kLineMax, kLineMax);
    evidence_ = std::clamp(evidence_, -kEvidenceMax, kEvidenceMax);
  }
  const double evidence = std::fabs(before) >= kEnough ? before : evidence_;
  if (evidence >= kEnough) {
    if (!known) return std::nullopt;
    return norm / *scale;
  }
  const bool small = !known || *scale <= kSmallScale;
  if (evidence <= -kEnough || small) return norm;
  return std::nullopt;
}

}  // namespace nanwatch
