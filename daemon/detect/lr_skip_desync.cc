#include "detect/lr_skip_desync.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"ahead", 20, 1, 1e9, "steps",
     "ours; PyTorch's search from 2^16 has 16, which no schedule notices"},
    {"share", 0.01, 0, 1, "ratio",
     "ours: a schedule that is 1 % ahead is no trouble"},
};

}  // namespace

constinit const RuleSpec LrSkipDesync::kSpec = {
    RuleId::kLrSkipDesync,
    "lr_skip_desync",
    Family::kTelemetry,
    "The learning rate schedule goes on at updates that were skipped, so "
    "it is ahead of the optimizer.",
    "The schedule made ahead steps or more at skipped updates, and these are "
    "more than share of all updates.",
    "They are less than share of all updates.",
    kThresholds,
    "It fires when the schedule is 20 steps and 1 % ahead, whether records "
    "show the rate before or after its step."};

void LrSkipDesync::Follow(const StepRecord& record, bool lost) {
  const double rate = record[StepField::kLearningRate];
  const bool adjacent =
      rate_ >= 0 && record.step - step_ >= 0 && record.step - step_ <= 1;
  if (!adjacent) {
    moves_ = 0;
  } else if (lost || lost_) {
    moves_ += rate != rate_;
    if (!lost) {
      ahead_ += std::max(0, moves_ - 1);
      moves_ = 0;
    }
  }
  rate_ = rate;
  step_ = record.step;
  lost_ = lost;
  ++updates_;
}

Severity LrSkipDesync::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLearningRate)) {
    rate_ = -1;
    return episode_.severity();
  }
  Follow(c.record, c.scaler.fate() == Fate::kLost);
  if (ahead_ == 0) return Severity::kNone;
  const bool much =
      static_cast<double>(ahead_) > t[kShare] * static_cast<double>(updates_);
  const bool trigger = much && static_cast<double>(ahead_) >= t[kAhead];
  return episode_.On(trigger ? Severity::kInfo : Severity::kNone, !much,
                     c.record.step, 1);
}

void LrSkipDesync::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The learning rate moved on at ", ahead_, " of ", updates_,
      " updates although these were skipped: its schedule is that many steps "
      "ahead of the optimizer. Step the scheduler only after an "
      "update that was applied.");
  finding->numbers = {{"steps_ahead", static_cast<double>(ahead_), "steps"},
                      {"attempts", static_cast<double>(updates_), "updates"}};
}

}  // namespace nanwatch
