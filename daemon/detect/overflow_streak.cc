#include "detect/overflow_streak.h"

#include <algorithm>
#include <limits>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"warning", 5, 2, 10000, "updates", "llm-foundry: patience 4"},
    {"critical", 16, 2, 10000, "updates",
     "16 halvings take PyTorch's 2^16 to 1"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
    {"at_end", 8, 2, 10000, "updates",
     "2^16 / 2^8: below that a search from PyTorch's 2^16 is rare; ours"},
};

// A search that begins at DeepSpeed's 2^32 ends above this in health.
constexpr double kFarAbove = 0x1p10;  // ours: six halvings below Apex's start

// Of updates, as it is kept: more than these nobody waits for.
int32_t Count(int64_t updates) {
  return static_cast<int32_t>(
      std::min<int64_t>(updates, std::numeric_limits<int32_t>::max()));
}

int32_t FloorIn(const ScalerTracker& scaler) {
  return Count(scaler.updates_to_floor().value_or(-1));
}

bool Starting(const StepContext& c) {
  const ScalingKind kind = c.run.scaler.kind;
  return c.scaler.since_start() <= c.scaler.grace_updates() &&
         kind != ScalingKind::kStatic && kind != ScalingKind::kNone;
}

}  // namespace

constinit const RuleSpec OverflowStreak::kSpec = {
    RuleId::kOverflowStreak,
    "overflow_streak",
    Family::kScale,
    "Updates overflow one after another, so nothing is learned.",
    "`warning` overflows in a row after the updates that a start-up "
    "calibration may take; critical from `critical` in a row on, once one "
    "update was good. Also `at_end` in a row, a start-up calibration or not, "
    "where the records end with them: no update is seen behind (not above a "
    "scale of "
    "1024, where a search may go on). A degree less where the "
    "updates are applied all the "
    "same, and for information where the overflow check was declared off.",
    "clear_after updates without overflow.",
    kThresholds,
    "Where overflows are applied all the same, a row of them is a warning, "
    "since nobody knows what went into the weights. It is for information "
    "where somebody declared the check off. A skipped update counts as an "
    "overflow even if nobody says that it overflowed, since that is why "
    "scalers skip; the sentence then says that the reason is not known. "
    "Layer-wise scales are not judged: an overflow flag names no layer."};

Severity OverflowStreak::OnStep(const StepContext& c, Thresholds t) {
  const ScalerTracker& scaler = c.scaler;
  row_ = 0;
  if (!scaler.overflowed()) {
    elsewhere_ = 0;
    if (!episode_.open()) return Severity::kNone;
    if (to_floor_ > 0) to_floor_ = FloorIn(scaler);
    return episode_.On(Severity::kNone, true, c.record.step, t[kClear]);
  }
  // A scale that fell between two step lines says that there was an overflow
  // among many steps, not that they followed one another.
  if (!TellsOfItsOwn(c) && IsApart(c)) {
    elsewhere_ = Count(scaler.overflow_streak() - 1);
  }
  const int64_t streak = scaler.overflow_streak() - elsewhere_;
  if (streak == 1) first_step_ = c.record.step;
  // Where they are applied all the same, updates are seen.
  row_ = scaler.fate() == Fate::kApplied ? 0 : Count(streak);
  row_scale_ = scaler.present_scale().value_or(-1);
  scaled_ = ScalesGradients(c);
  Severity trigger = Severity::kNone;
  // A search for the scale may have a good update half way.
  const int at_least = Starting(c) ? kCritical : kWarning;
  if (streak >= t[at_least] && !scaler.in_grace()) {
    trigger = streak >= t[kCritical] ? Severity::kCritical : Severity::kWarning;
    applied_ = scaler.fate() == Fate::kApplied;
    if (applied_) trigger = OfApplied(c.run, trigger);
    left_out_ = IsLeftOut(c);
    streak_ = Count(streak);
    apart_ = IsApart(c);
    since_ = first_step_;
    to_floor_ = FloorIn(scaler);
    scale_ = scaler.present_scale().value_or(-1);
  }
  return episode_.OnSince(first_step_, trigger, false, c.record.step, 1);
}

Severity OverflowStreak::OnEnd(Thresholds t) {
  if (row_ < t[kAtEnd] || row_scale_ > kFarAbove ||
      episode_.severity() == Severity::kCritical) {
    return episode_.severity();
  }
  streak_ = row_;
  scale_ = row_scale_;
  since_ = first_step_;
  left_out_ = applied_ = apart_ = false;
  return episode_.OnSince(first_step_, Severity::kCritical, false, first_step_,
                          1);
}

void OverflowStreak::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence(streak_, apart_ ? " recorded" : "",
               left_out_ ? " updates in a row were left out since step "
               : scaled_ ? " updates in a row overflowed since step "
                         : " updates in a row were not finite since step ",
               since_,
               left_out_  ? "; the records do not say whether for overflows"
               : applied_ ? "; they are applied all the same"
                          : "; all of them are lost");
  finding->numbers = {{"streak", static_cast<double>(streak_), "updates"},
                      {"streak_from", static_cast<double>(since_), "step"}};
  if (scale_ >= 0) {
    finding->sentence += Sentence("; the loss scale is ", scale_);
    finding->numbers.push_back({"scale", scale_, ""});
  }
  if (to_floor_ > 0) {
    finding->sentence += Sentence(" and reaches its floor in ", to_floor_,
                                  " updates at this rate");
    finding->numbers.push_back(
        {"attempts_to_floor", static_cast<double>(to_floor_), "updates"});
  }
  finding->sentence += ".";
}

}  // namespace nanwatch
