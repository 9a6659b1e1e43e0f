#include "detect/weight_nonfinite.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec WeightNonfinite::kSpec = {
    RuleId::kWeightNonfinite,
    "weight_nonfinite",
    Family::kWeight,
    "A parameter tensor holds NaN or infinities, and no later update repairs "
    "it.",
    "Any NaN or infinite element in a parameter.",
    "Never within an attempt: go back to a checkpoint before that step.",
    {}};

Severity WeightNonfinite::OnOp(const OpContext& c, Thresholds) {
  if (c.status.slot != Slot::kParameter) return Severity::kNone;
  return tensor_.OnStatus(c.status);
}

void WeightNonfinite::Describe(Finding* finding) const {
  finding->sentence = tensor_.Describe(finding);
  finding->sentence +=
      Sentence(" of this parameter since step ", finding->opened_step, ".");
}

}  // namespace nanwatch
