#include "detect/guessing.h"

#include <algorithm>

namespace nanwatch {
namespace {

constexpr float kBack = 0.1f;    // of the rise that is left; ours
constexpr float kFar = 1.5f;     // times guessing, of a fresh model; ours
constexpr int32_t kNever = 14;   // records of it, as loss_spike's; ours
constexpr int32_t kRecords = 5;  // fewer show no course; ours
constexpr int64_t kMost = 100;   // steps that one record counts for; ours

}  // namespace

Severity Guessing::Add(float loss, int64_t step, int64_t covered,
                       const Limits& limits) {
  if (loss > 0) lowest_ = lowest_ > 0 ? std::min(lowest_, loss) : loss;
  const bool knew = Knew(limits.untrained);
  if (loss < limits.untrained || (!knew && !limits.exactly)) {
    steps_ = 0;
    if (loss <= lowest_ + kBack * (peak_ - lowest_)) away_ = false;
    return Severity::kNone;
  }
  if (steps_ == 0) {
    course_ = Course();
    since_ = step;
    if (!away_) peak_ = loss;
  }
  steps_ += static_cast<int32_t>(std::clamp<int64_t>(covered, 1, kMost));
  course_.Add(loss);
  peak_ = std::max(peak_, loss);
  loss_ = loss;
  if (steps_ < limits.steps) return Severity::kNone;
  if (!knew) {
    if (course_.last() < kFar * limits.untrained) return Severity::kNone;
    const bool never = course_.records() >= kNever && !course_.ComesDown(0);
    return never ? Severity::kCritical : Severity::kWarning;
  }
  away_ = true;
  const bool stays =
      course_.records() >= kRecords &&
      static_cast<double>(step - since_) >= limits.critical_steps &&
      !course_.ComesDown(lowest_);
  return stays ? Severity::kCritical : Severity::kWarning;
}

}  // namespace nanwatch
