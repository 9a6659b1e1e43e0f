#include "detect/update_ratio.h"

#include <cmath>
#include <string>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kMoved = 0.02;  // of the norm of the weights; ours

constexpr ThresholdSpec kThresholds[] = {
    {"warning", 0.1, 1e-6, 1e6, "ratio", "MindInsight"},
    {"critical", 1, 1e-6, 1e6, "ratio", "MindInsight"},
    {"hold", 10, 1, 100000, "updates",
     "ours: at 0.1 the weights are others after 10"},
    {"too_small", 1e-8, 0, 1, "ratio",
     "SageMaker; half the precision of fp32 is 6e-8"},
    {"small_hold", 50, 1, 100000, "updates", "ours"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec UpdateRatio::kSpec = {
    RuleId::kUpdateRatio,
    "update_ratio",
    Family::kWeight,
    "The updates are too large for the weights to keep anything, or too small "
    "to change them.",
    "After the first 100 updates the norm of the update is more than warning "
    "(critical) times that of the weights for hold updates in a row, in which "
    "the norm of the weights moved by 2 %; or less than too_small times for "
    "small_hold updates in a row, while the learning rate is at least a "
    "hundredth of its highest. Skipped updates do not count.",
    "Neither for clear_after updates.",
    kThresholds,
    "In other units the ratio proves nothing, so the weights must be seen "
    "to move. First updates and low learning rates are not judged."};

Severity UpdateRatio::Judge(double ratio, double weights, bool low_rate,
                            Thresholds t) {
  high_ = ratio > t[kWarning] ? high_ + 1 : 0;
  very_high_ = ratio > t[kCritical] ? very_high_ + 1 : 0;
  small_ = ratio > 0 && ratio < t[kTooSmall] && !low_rate ? small_ + 1 : 0;
  const auto hold = static_cast<int32_t>(t[kHold]);
  bool moved = false;
  if (high_ % hold == 0) {
    moved = high_ > 0 && std::fabs(weights / weights_from_ - 1) >= kMoved;
    weights_from_ = weights;
  }
  if (very_high_ >= hold && moved) return Severity::kCritical;
  if (moved) return Severity::kWarning;
  return small_ >= t[kSmallHold] ? Severity::kWarning : Severity::kNone;
}

Severity UpdateRatio::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (!r.has(StepField::kUpdateNorm) || !r.has(StepField::kParamNorm) ||
      c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  const double update = r[StepField::kUpdateNorm];
  const double weights = r[StepField::kParamNorm];
  if (!std::isfinite(update) || !std::isfinite(weights) || weights <= 0) {
    return episode_.severity();
  }
  if (updates_ < kSettle) {
    ++updates_;
    weights_from_ = weights;
    return Severity::kNone;
  }
  const double ratio = update / weights;
  const bool low_rate = !r.has(StepField::kLearningRate) || c.rate->is_low();
  const Severity trigger = Judge(ratio, weights, low_rate, t);
  if (trigger != Severity::kNone) ratio_ = ratio;
  return episode_.On(trigger, high_ == 0 && small_ == 0, r.step, t[kClear]);
}

namespace {

// ", for 20 records in a row"; empty where that is over.
std::string For(int64_t records) {
  return records > 1 ? Sentence(", for ", records, " records in a row") : "";
}

}  // namespace

void UpdateRatio::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      ratio_ < 1e-3
          ? Sentence("Updates are ", ratio_, " of the weights", For(small_),
                     ": that is below their precision, so nothing changes "
                     "although the learning rate is not low.")
          : Sentence("Updates are ", ratio_, " times the weights", For(high_),
                     ": nothing of what was learned is kept.");
  finding->numbers = {{"update_to_weight", ratio_, "ratio"}};
}

}  // namespace nanwatch
