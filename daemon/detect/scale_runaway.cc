#include "detect/scale_runaway.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"info", 0x1p32, 1, 0x1p127, "scale",
     "the highest scale that programs begin with; Apex's ceiling, 2^24, is "
     "passed by healthy runs whose gradients are tiny"},
    {"warning", 0x1p48, 1, 0x1p127, "scale",
     "fp16 spans 2^40; ours, with a margin"},
    {"critical", 0x1p120, 1, 0x1p127, "scale", "pytorch#98828"},
    {"hold", 100, 1, 1000000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec ScaleRunaway::kSpec = {
    RuleId::kScaleRunaway,
    "scale_runaway",
    Family::kScale,
    "The loss scale grows without end: no gradient ever overflows, so none of "
    "them is an fp16 number that matters.",
    "A dynamic scale is above `info`, and above where it began, for `hold` "
    "updates or steps; a warning from `warning` on; critical from `critical` "
    "on, at once.",
    "The scale is at most `info`.",
    kThresholds,
    "Healthy runs with tiny gradients pass 2^24. So the rule informs above "
    "2^32, and warns where the whole span of fp16 is passed."};

Severity ScaleRunaway::OnStep(const StepContext& c, Thresholds t) {
  const double scale = c.scaler.scale().value_or(0);
  if (scale <= t[kInfo]) {
    above_ = Streak();
    if (!episode_.open()) return Severity::kNone;
    return episode_.On(Severity::kNone, true, c.record.step, 1);
  }
  const double first = c.scaler.first_scale().value_or(scale);
  if (!c.scaler.dynamic() || scale <= first) return episode_.severity();
  const int64_t updates = above_.Add(true, c.record.step);
  const int64_t held = std::max(updates, c.record.step - above_.since());
  Severity trigger = Severity::kNone;
  if (scale >= t[kCritical]) {
    trigger = Severity::kCritical;
  } else if (static_cast<double>(held) >= t[kHold]) {
    trigger = scale >= t[kWarning] ? Severity::kWarning : Severity::kInfo;
  }
  scale_ = scale;
  first_scale_ = first;
  return episode_.On(trigger, false, c.record.step, 1);
}

void ScaleRunaway::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The loss scale grew from ", first_scale_, " to ", scale_,
      " and nothing overflows: the gradients are zero, are not scaled, or are "
      "not in fp16 (BF16 needs no scaler).");
  finding->numbers = {{"scale", scale_, ""}, {"first_scale", first_scale_, ""}};
}

}  // namespace nanwatch
