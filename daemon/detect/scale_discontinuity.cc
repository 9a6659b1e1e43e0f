#include "detect/scale_discontinuity.h"

#include <string_view>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 1000, 1, 1000000, "updates", "ours"},
};

std::string_view Reason(Impossible why) {
  switch (why) {
    case Impossible::kGrewAtOverflow:
      return " at an overflow";
    case Impossible::kGrewEarly:
      return " so long before its growth interval";
    case Impossible::kFellTwice:
      return " at one overflow";
    default:
      return "";
  }
}

}  // namespace

constinit const RuleSpec ScaleDiscontinuity::kSpec = {
    RuleId::kScaleDiscontinuity,
    "scale_discontinuity",
    Family::kScale,
    "The loss scale made a change that its scaler never makes, or none where "
    "it always does.",
    "A ratio other than the growth factor, powers of the backoff factor, or "
    "the way to floor and ceiling. For a declared scaler also: a growth at an "
    "overflow or long before the growth interval, a fall by several factors "
    "at one overflow, 8 overflows in a row (more with hysteresis) above the "
    "floor without a fall. For information, after a restart that goes on with "
    "the steps: a first scale 8 times above any at which the attempt before "
    "had a good step.",
    "clear_after updates without another.",
    kThresholds,
    "A log's scale that jumps up to where it began is a restart whose "
    "scaler was not restored. That is for information, and a search of the "
    "start begins anew. The scale of a layer is judged from the first overflow "
    "on "
    "that its own gradient shows, where it never falls without one."};

Severity ScaleDiscontinuity::OnStep(const StepContext& c, Thresholds t) {
  const double scale = c.scaler.scale().value_or(0);
  const bool jump = c.scaler.last_transition() == Transition::kImpossible;
  if (jump) {
    if (!episode_.open()) count_ = 0;
    ++count_;
    why_ = c.scaler.why_impossible();
    from_ = why_ == Impossible::kNotRestored ? c.scaler.good_scale_before()
                                             : scale_;
    to_ = scale;
  }
  scale_ = scale;
  if (!jump && !episode_.open()) return Severity::kNone;
  // A scaler that was not restored costs its search once more, and no more.
  const Severity trigger = !jump ? Severity::kNone
                           : why_ == Impossible::kNotRestored
                               ? Severity::kInfo
                               : Severity::kWarning;
  return episode_.On(trigger, !c.scaler.never_falls(), c.record.step,
                     t[kClear]);
}

void ScaleDiscontinuity::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (why_ == Impossible::kNotRestored) {
    finding->sentence = Sentence(
        "After the restart the loss scale begins at ", to_,
        ", though no step of the attempt before was good above ", from_,
        ": the scaler's state was not restored with the checkpoint.");
  } else if (why_ == Impossible::kNeverFell) {
    finding->sentence = Sentence(
        "The loss scale stands at ", to_,
        " though overflow follows overflow: nothing lowers it. Look for an "
        "update() of the scaler that is never called, or that sets it.");
  } else {
    finding->sentence =
        Sentence("The loss scale went from ", from_, " to ", to_,
                 ", which the scaler never does", Reason(why_),
                 count_ > 1 ? Sentence(" (", count_, " such changes)") : "",
                 ": look for a second update() a step, a scaler state "
                 "that was not restored, or a scaler that is not as declared.");
  }
  finding->numbers = {{"scale_before", from_, ""},
                      {"scale", to_, ""},
                      {"changes", static_cast<double>(count_), ""}};
}

}  // namespace nanwatch
