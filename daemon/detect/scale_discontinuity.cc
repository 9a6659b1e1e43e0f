#include "detect/scale_discontinuity.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 1000, 1, 1000000, "attempts", "ours"},
};

}  // namespace

constinit const RuleSpec ScaleDiscontinuity::kSpec = {
    14,
    "scale_discontinuity",
    Family::kScale,
    "The loss scale made a change that its scaler never makes.",
    "A ratio other than the growth factor, powers of the backoff factor, or "
    "the way to floor and ceiling.",
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
  }
  scale_ = scale;
  if (!jump && !episode_.open()) return Severity::kNone;
  return episode_.On(jump ? Severity::kWarning : Severity::kNone, true,
                     c.record.step, static_cast<int64_t>(t[kClear]));
}

void ScaleDiscontinuity::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The loss scale went from ", from_, " to ", to_,
      ", which the scaler never does (", count_,
      " such changes): look for a second update() a step, or a scaler state "
      "that was not restored.");
  finding->numbers = {{"scale_before", from_, ""},
                      {"scale", to_, ""},
                      {"changes", static_cast<double>(count_), ""}};
}

}  // namespace nanwatch
