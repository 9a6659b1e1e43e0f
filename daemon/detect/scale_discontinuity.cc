#include "detect/scale_discontinuity.h"

#include <string_view>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 1000, 1, 1000000, "attempts", "ours"},
};

std::string_view Reason(Impossible why) {
  switch (why) {
    case Impossible::kGrewAtOverflow:
      return "at an overflow ";
    case Impossible::kGrewEarly:
      return "so long before its growth interval ";
    case Impossible::kFellTwice:
      return "at one overflow ";
    default:
      return "";
  }
}

}  // namespace

constinit const RuleSpec ScaleDiscontinuity::kSpec = {
    14,
    "scale_discontinuity",
    Family::kScale,
    "The loss scale made a change that its scaler never makes, or none where "
    "it always does.",
    "A ratio other than the growth factor, powers of the backoff factor, or "
    "the way to floor and ceiling. For a declared scaler also: a growth at an "
    "overflow or long before the growth interval, a fall by several factors "
    "at one overflow, 8 overflows in a row (more with hysteresis) above the "
    "floor without a fall.",
    "clear_after attempts without another.",
    kThresholds};

Severity ScaleDiscontinuity::OnStep(const StepContext& c, Thresholds t) {
  const double scale = c.scaler.scale().value_or(0);
  const bool jump = c.scaler.last_transition() == Transition::kImpossible;
  if (jump) {
    if (!episode_.open()) count_ = 0;
    ++count_;
    from_ = scale_;
    to_ = scale;
    why_ = c.scaler.why_impossible();
  }
  scale_ = scale;
  if (!jump && !episode_.open()) return Severity::kNone;
  return episode_.On(jump ? Severity::kWarning : Severity::kNone,
                     !c.scaler.never_falls(), c.record.step,
                     static_cast<int64_t>(t[kClear]));
}

void ScaleDiscontinuity::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      why_ == Impossible::kNeverFell
          ? Sentence("The loss scale stands at ", to_,
                     " though overflow follows overflow (", count_,
                     " impossible changes): look for an update() of the "
                     "scaler that is never called.")
          : Sentence("The loss scale went from ", from_, " to ", to_,
                     ", which the scaler never does ", Reason(why_), "(",
                     count_, " such changes): look for a second update() a ",
                     "step, a scaler state that was not restored, or a scaler ",
                     "that is not as declared.");
  finding->numbers = {{"scale_before", from_, ""},
                      {"scale", to_, ""},
                      {"changes", static_cast<double>(count_), ""}};
}

}  // namespace nanwatch
