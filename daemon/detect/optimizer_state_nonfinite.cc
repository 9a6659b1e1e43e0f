#include "detect/optimizer_state_nonfinite.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec OptimizerStateNonfinite::kSpec = {
    RuleId::kOptimizerStateNonfinite,
    "optimizer_state_nonfinite",
    Family::kWeight,
    "The optimizer's state holds NaN or infinities, so every later update of "
    "those elements is NaN or nothing.",
    "Any NaN or infinite element in a tensor of the optimizer's state.",
    "Never within an attempt: go back to a checkpoint before that step.",
    {}};

Severity OptimizerStateNonfinite::OnOp(const OpContext& c, Thresholds) {
  if (c.status.slot != Slot::kOptimizerState) return Severity::kNone;
  return tensor_.OnStatus(c.status);
}

void OptimizerStateNonfinite::Describe(Finding* finding) const {
  finding->sentence = tensor_.Describe(finding);
  finding->sentence +=
      Sentence(" of this optimizer state since step ", finding->opened_step,
               tensor_.has_nan() ? ": their updates are NaN from then on"
                                 : ": their updates are NaN, or 0 for ever",
               ".");
}

}  // namespace nanwatch
