#include "detect/loss_nonfinite.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"critical_streak", 2, 1, 1000, "records", "Megatron: fatal at once"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
};

}  // namespace

constinit const RuleSpec LossNonfinite::kSpec = {
    15,
    "loss_nonfinite",
    Family::kLoss,
    "The loss is NaN or infinite.",
    "One such loss; critical when its update was applied, or from "
    "critical_streak in a row outside calibration.",
    "clear_after finite losses.",
    kThresholds};

Severity LossNonfinite::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLoss)) return episode_.severity();
  const double loss = c.record[StepField::kLoss];
  if (std::isfinite(loss)) {
    streak_ = 0;
    if (!episode_.open()) return Severity::kNone;
    return episode_.On(Severity::kNone, true, c.record.step,
                       static_cast<int64_t>(t[kClear]));
  }
  ++streak_;
  loss_ = loss;
  fate_ = c.scaler.presumed_fate();
  // A log shows a loss scale, which has not moved yet, and no flag.
  const bool scaled = c.scaler.scale().value_or(0) > 1;
  if (scaled && !FateIsTold(c)) fate_ = Fate::kUnknown;
  Severity trigger = Severity::kWarning;
  if (fate_ == Fate::kApplied) {
    trigger = Severity::kCritical;
  } else if (c.scaler.in_grace()) {
    trigger = Severity::kInfo;
  } else if (streak_ >= t[kCriticalStreak]) {
    trigger = Severity::kCritical;
  }
  return episode_.On(trigger, false, c.record.step, 1);
}

void LossNonfinite::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The loss is ", loss_, " since step ", finding->opened_step);
  if (streak_ > 1) {
    finding->sentence += Sentence(", ", streak_, " records in a row");
  }
  if (fate_ == Fate::kApplied) {
    finding->sentence += ", and the update was applied";
  } else if (fate_ == Fate::kLost) {
    finding->sentence += "; the update was skipped";
  }
  finding->sentence += ".";
  finding->numbers = {{"loss", loss_, ""},
                      {"streak", static_cast<double>(streak_), "records"}};
}

}  // namespace nanwatch
