#include "detect/no_gradient.h"

#include <algorithm>
#include <cmath>

#include "detect/loss_not_decreasing.h"

namespace nanwatch {
namespace {

// Smaller ones may be 0 but for rounding, as those of rewards that are alike.
constexpr double kSizable = 0.001;  // a loss; ours
constexpr int32_t kFew = 32;        // records that show a slope; ours
// A fall along the straight line through the losses: deviations, and logarithms
// of the loss.
constexpr float kStands = 1;      // deviations: no fall; ours
constexpr float kFalls = 3;       // deviations: no chance; ours
constexpr float kStill = 0.015f;  // a fall that is none; ours
constexpr float kHides = 0.08f;   // that noise may hide; ours
constexpr int64_t kMostSteps = INT32_MAX;

}  // namespace

// Losses that cross 0, and those that follow rewards, show no learning: of them
// the norm alone speaks.
void NoGradient::Look(const StepContext& c) {
  const Series& s = *c.loss;
  level_ = c.level == LevelKind::kKept && !s.crosses_zero();
  stands_ = false;
  if (records_ < kFew) return;
  if (!level_) {
    stands_ = c.level == LevelKind::kKept || c.level == LevelKind::kOfRewards;
    return;
  }
  const auto n = static_cast<float>(records_);
  const float fall = -slope_ * 12 / (n * n);
  const float deviation = s.noise() * std::sqrt(12 / n);
  learns_ = fall >= std::max(kFalls * deviation, kStill) || fall >= 2 * kHides;
  stands_ = !learns_ && fall <= kStands * deviation &&
            fall >= -kFalls * deviation && deviation <= kHides;
}

void NoGradient::Add(const StepContext& c, double loss) {
  if (learns_ || std::fabs(loss) < kSizable) return;
  const StepRecord& r = c.record;
  if (first_step_ < 0) first_step_ = r.step;
  steps_ = static_cast<int32_t>(std::min(r.step - first_step_, kMostSteps));
  if (c.rate->rises()) {
    records_ = 0;
    mean_ = slope_ = 0;
  }
  const float off = Series::LogOf(static_cast<float>(loss)) - mean_;
  slope_ += off * static_cast<float>(records_) / 2;
  mean_ += off / static_cast<float>(++records_);
  // A run that goes on did its falling before.
  const bool told = first_step_ <= LossNotDecreasing::kResumed ||
                    c.level != LevelKind::kKept || c.loss->crosses_zero();
  if (told) Look(c);
}

Severity NoGradient::severity() const {
  if (!stands_ || records_ < kShown) return Severity::kNone;
  return level_ && records_ >= kLong ? Severity::kCritical : Severity::kWarning;
}

Severity NoGradient::at_end() const {
  const bool shown = stands_ && records_ >= kShownAtEnd;
  return std::max(severity(), shown ? Severity::kWarning : Severity::kNone);
}

}  // namespace nanwatch
