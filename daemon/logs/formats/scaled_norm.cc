#include "logs/formats/scaled_norm.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

// One move of the scale says this much at most, and so much decides: four moves
// that agree at least. Both start with norms that fall as the scale does.
constexpr double kMoveMax = 1.5;
constexpr double kEnough = 5;
// log of a move that is one: scales go by factors of 2, rarely less.
constexpr double kMoved = 0.4;
constexpr double kSameScale = 1e-3;
// Of the noise: as it is expected at least, and as one line changes it.
constexpr double kNoiseMin = 0.1;
constexpr double kNoiseRate = 0.05;
constexpr double kNoiseMax = 2;
// Norms above are rare where they are not multiplied.
constexpr double kHigh = 300;
// Below it, either reading is good enough.
constexpr double kSmallScale = 8;

}  // namespace

// Heavy tails: a spike of the norm says little either way.
void ScaledNorm::Judge(double norm_moved, double scale_moved) {
  if (std::fabs(scale_moved) < kMoved || print_ != Print::kNotKnown) return;
  const double width = 1.4 * std::max(noise_, kNoiseMin);
  const double as_it_is = norm_moved / width;
  const double scaled = (norm_moved - scale_moved) / width;
  const double says =
      std::log((1 + as_it_is * as_it_is) / (1 + scaled * scaled));
  evidence_ += std::clamp(says, -kMoveMax, kMoveMax);
  if (evidence_ >= kEnough) print_ = Print::kScaled;
  if (evidence_ <= -kEnough) print_ = Print::kAsItIs;
}

void ScaledNorm::Learn(double log_norm, double log_scale) {
  const bool stands = std::fabs(log_scale - log_scale_) < kSameScale;
  if (begun_ && !stands && !moving_) {
    moving_ = true;
    norm_before_ = log_norm_;
    scale_before_ = log_scale_;
  } else if (begun_ && stands && moving_) {
    moving_ = false;
    Judge(log_norm - norm_before_, log_scale - scale_before_);
  } else if (begun_ && stands) {
    const double moved = std::fabs(log_norm - log_norm_);
    noise_ += kNoiseRate * (std::min(moved, kNoiseMax) - noise_);
  }
  begun_ = true;
  log_norm_ = log_norm;
  log_scale_ = log_scale;
}

std::optional<double> ScaledNorm::Unscaled(double norm,
                                           std::optional<double> scale) {
  if (norm == 0 || !std::isfinite(norm)) return norm;
  const bool known = scale && std::isfinite(*scale) && *scale > 0;
  if (known) {
    if (!begun_) first_scale_ = *scale;
    if (print_ == Print::kNotKnown) Learn(std::log(norm), std::log(*scale));
  }
  if (print_ == Print::kScaled) {
    if (!known) return std::nullopt;
    return norm / *scale * first_scale_;
  }
  const bool other = known ? *scale != first_scale_ && *scale > kSmallScale
                           : begun_ && first_scale_ > kSmallScale;
  if (print_ == Print::kNotKnown && other && norm > kHigh) return std::nullopt;
  return norm;
}

}  // namespace nanwatch
