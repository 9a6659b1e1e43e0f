#include "detect/update_fault.h"

#include <string>
#include <string_view>
#include <utility>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 8, 1, 100000, "updates",
     "ours: a schedule may begin at a rate of 0, and a batch may miss an "
     "expert"},
    {"hold_zero", 50, 1, 100000, "updates",
     "ours: batches without an error leave a hinge loss no gradient"},
    {"clear_after", 8, 1, 100000, "updates", "ours"},
    {"idle_hold", 32, 1, 100000, "updates",
     "ours: schedules end at 0 with the last update, or a few before it"},
    {"idle_share", 0.25, 0, 1, "ratio", "ours: of all updates so far"},
};

std::string_view WordsOf(UpdateFault fault) {
  switch (fault) {
    case UpdateFault::kNoBackward:
      return " steps without gradients: no backward() made any since they "
             "were cleared";
    case UpdateFault::kZeroed:
      return "The gradients are cleared between backward() and the "
             "optimizer's step: it has none";
    case UpdateFault::kNoRate:
      return "The learning rate is 0: updates change nothing";
    case UpdateFault::kOtherWeights:
      return "The optimizer holds other weights than the model that is "
             "trained: that model is not updated";
    case UpdateFault::kNoStep:
      return "The optimizer's step() is not called: gradients are made and "
             "cleared again, and nothing is updated";
    case UpdateFault::kAllZero:
      return "The gradients of all parameters are exactly 0";
    case UpdateFault::kNotCleared:
      return "The gradients are not cleared between updates: these are made "
             "with gradients of the past, too";
    case UpdateFault::kNotUnscaled:
      return "The optimizer gets gradients that are still multiplied by the "
             "loss scale: they were scaled and never unscaled";
    case UpdateFault::kNotHeld:
      return " gets gradients, and no optimizer holds it: it is not trained";
    case UpdateFault::kHeldBack:
      return " gets gradients, and no optimizer holds it: it is not trained, "
             "which may be meant";
    case UpdateFault::kNeverCalled:
      return " gets gradients, and the optimizer that holds it is never "
             "called: it is not trained";
    case UpdateFault::kNotReached:
      return " is held by an optimizer, and no backward() reaches it: it is "
             "not trained, which may be meant";
    case UpdateFault::kCutOff:
      return " runs in front of what is trained, and no backward() reaches it: "
             "what it makes is cut off from the loss, and it is not trained";
    case UpdateFault::kClimbing:
      return "Each update makes predictions worse: what it minimises is the "
             "negative of a cross-entropy";
    case UpdateFault::kNotScaled:
      return "The scaler divides gradients by the loss scale, of a loss that "
             "was never multiplied by it: updates are that much smaller";
    case UpdateFault::kClippedScaled:  // clipped_before_unscaling says it
    case UpdateFault::kNone:
      break;
  }
  return "";
}

// Returns what the words begin with; `of` is the part of the model, or one
// optimizer of several.
std::string SubjectOf(UpdateFault fault, std::string_view of) {
  if (fault == UpdateFault::kNoBackward) {
    return Sentence("The optimizer", of.empty() ? "" : " ", of);
  }
  if (!IsOfPart(fault)) return "";
  return std::string(of.empty() ? "A part of the model" : of);
}

// True for what never came: it takes the client a while to be sure, and was so
// from the first record on.
bool WasEverSo(UpdateFault fault) {
  return fault == UpdateFault::kNeverCalled ||
         fault == UpdateFault::kNotReached || fault == UpdateFault::kCutOff;
}

UpdateFault FaultOf(const StepContext& c) {
  const UpdateFacts* facts = c.record.update;
  const UpdateFault seen =
      facts == nullptr || facts->fault == UpdateFault::kClippedScaled
          ? UpdateFault::kNone
          : facts->fault;
  const bool idle = seen == UpdateFault::kNone && c.rate->idle() > 0;
  return idle ? UpdateFault::kNoRate : seen;
}

// The loss comes down: what is printed is not the rate of all that learns.
bool Learns(const StepContext& c) {
  constexpr float kLearned = -0.22f;  // ln 0.8; ours
  return c.loss->values() > 0 && !c.loss->crosses_zero() &&
         c.loss->stands() <= c.loss->first() + kLearned;
}

}  // namespace

constinit const RuleSpec UpdateFaultRule::kSpec = {
    RuleId::kUpdateFault,
    "update_fault",
    Family::kWeight,
    "Updates are made in a way that learns nothing, or not from these "
    "gradients.",
    "At hold updates in a row (hold_zero where all gradients are exactly 0) "
    "the client saw the same: no backward pass (that reaches one optimizer of "
    "several), gradients cleared before the "
    "update or not at all, a learning rate of 0, an optimizer that holds other "
    "weights or is not called, gradients that are never unscaled, or are of a "
    "loss "
    "that was never scaled, the negative "
    "of a cross-entropy as the loss, a part of "
    "the model that gets gradients and that no optimizer updates. Such a part "
    "that stands before what is trained is for information: to train a head "
    "alone may be meant; but not where it stands in a module most of which is "
    "frozen, as an adapter. So is a part that an optimizer holds and that "
    "never "
    "gets a gradient: forward() may leave it out. It is a warning where the "
    "part runs with gradients on, in front of what is trained, for 256 "
    "updates: "
    "its results are detached. A rate of 0 "
    "after updates, as at the end of a schedule, is for information; for "
    "idle_hold updates in a row that are idle_share of all, it is a warning. "
    "So is one that is printed as 0 for idle_hold updates from the first "
    "record "
    "on, but where the loss comes down by a fifth; and one that has come down "
    "to less than the 2^24th of its highest: an update is no larger than its "
    "weights, and this one is lost in their rounding.",
    "clear_after updates without it.",
    kThresholds,
    "Clients that cannot see this say nothing of it, and nothing is found. A "
    "rate of 0 is seen in any record where no rounding hides another one: "
    "rates before moved by as little as a twentieth of the highest, and the "
    "last of them would still be printed if it fell by the same share once "
    "more. A log that prints it as 0.0 or 0e+00, and "
    "not with a fixed number of digits, hides none, either."};

Severity UpdateFaultRule::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  const UpdateFault fault = FaultOf(c);
  // Records that tell nothing are not shown to it.
  const int64_t before = std::exchange(update_, c.scaler.updates());
  if (update_ - before > 1 || (before == 0 && update_ > 1)) {
    ever_fine_ = true;
    fault_ = UpdateFault::kNone;
  }
  if (fault != fault_ || fault == UpdateFault::kNone) {
    held_ = 0;
    since_ = WasEverSo(fault) ? c.first_step : r.step;
  }
  fault_ = fault;
  // Else it is read from the record alone.
  const bool seen = r.update != nullptr && r.update->fault == fault;
  Severity trigger = Severity::kNone;
  // A loss of 0 leaves nothing to learn.
  const bool learned = fault == UpdateFault::kAllZero &&
                       r.has(StepField::kLoss) && r[StepField::kLoss] == 0;
  if (fault == UpdateFault::kNone) {
    ever_fine_ = true;
  } else if (!learned) {
    ++held_;
    if (held_ == 1) {
      rate_ = fault == UpdateFault::kNoRate ? c.rate->newest() : 0;
    }
    // A warm-up may print 0 for all of its first interval.
    const bool printed = fault == UpdateFault::kNoRate && !seen;
    const double hold = t[fault == UpdateFault::kAllZero ? kHoldZero
                          : printed                      ? kIdleHold
                                                         : kHold];
    if (held_ >= hold) {
      said_ = fault;
      told_ = WasEverSo(fault) ? static_cast<int32_t>(update_) : held_;
      of_.Set(r.update != nullptr ? r.update->of : std::string_view());
      const bool ends = fault == UpdateFault::kNoRate && ever_fine_;
      const bool goes_on =
          held_ >= t[kIdleHold] &&
          held_ >= t[kIdleShare] * static_cast<double>(update_);
      const bool meant = fault == UpdateFault::kHeldBack ||
                         fault == UpdateFault::kNotReached ||
                         (ends && !goes_on);
      trigger = meant ? Severity::kInfo : Severity::kWarning;
      // Schedules end near 0.
      const bool fades = rate_ > 0 && c.rate->newest() > 0;
      if (fades && meant) trigger = Severity::kNone;
    }
  }
  const bool learns =
      fault == UpdateFault::kNoRate && !seen && !ever_fine_ && Learns(c);
  if (learns && trigger != Severity::kNone) {
    trigger = episode_.severity() > Severity::kInfo ? Severity::kNone
                                                    : Severity::kInfo;
  }
  return episode_.OnSince(since_, trigger,
                          fault == UpdateFault::kNone || learns, r.step,
                          t[kClear]);
}

void UpdateFaultRule::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      said_ == UpdateFault::kNoRate && rate_ > 0
          ? Sentence("The learning rate came down to ", rate_,
                     ", which moves no weight: updates change nothing, for ",
                     told_, " records in a row.")
          : Sentence(SubjectOf(said_, of_.get()), WordsOf(said_), ", for ",
                     told_, " records in a row.");
  finding->numbers = {{"fault", static_cast<double>(said_), ""},
                      {"updates", static_cast<double>(told_), "updates"}};
}

}  // namespace nanwatch
