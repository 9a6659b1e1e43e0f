#include "detect/scale_unrepresentable.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"smallest", 0x1p-126, 0, 1, "scale",
     "the fp32 reciprocal is infinite below 2.94e-39, products are subnormal "
     "below 2^-126"},
};

}  // namespace

constinit const RuleSpec ScaleUnrepresentable::kSpec = {
    3,
    "scale_unrepresentable",
    Family::kScale,
    "The loss scale is no usable number, so every scaled gradient is 0 or "
    "non-finite.",
    "The scale is 0, negative, NaN, infinite or below smallest.",
    "Never within an attempt: restart with a fresh scaler.",
    kThresholds};

Severity ScaleUnrepresentable::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLossScale)) return episode_.severity();
  const double scale = c.record[StepField::kLossScale];
  if (scale >= t[kSmallest] && !std::isinf(scale)) {
    last_usable_ = scale;
    return episode_.severity();
  }
  if (last_usable_ == 0) {
    // A placeholder in place of a number that the program does not know.
    if (scale == -1) return episode_.severity();
    const bool scaled = c.scaler.dynamic() || c.scaler.overflowed();
    if (scale == 0 && !scaled) return episode_.severity();
  }
  if (!episode_.open()) scale_ = scale;
  return episode_.On(Severity::kCritical, false, c.record.step, 1);
}

void ScaleUnrepresentable::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The loss scale became ", scale_, " at step ",
               finding->opened_step, ", which no gradient survives");
  if (last_usable_ > 0) {
    finding->sentence +=
        Sentence(" (the last usable one was ", last_usable_, ")");
  }
  finding->sentence += ": restart with a fresh scaler.";
  finding->numbers = {{"scale", scale_, ""},
                      {"last_usable_scale", last_usable_, ""}};
}

}  // namespace nanwatch
