#include "detect/optimizer_state_nonfinite.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec OptimizerStateNonfinite::kSpec = {
    17,
    "optimizer_state_nonfinite",
    Family::kWeight,
    "The optimizer's state holds NaN or infinities, so every later update of "
    "those elements is NaN or nothing.",
    "Any NaN or infinite element in a tensor of the optimizer's state.",
    "Never within an attempt: go back to a checkpoint before that step.",
    {}};

Severity OptimizerStateNonfinite::OnOp(const OpContext& c, Thresholds) {
  const OpStatus& s = c.status;
  if (s.slot != Slot::kOptimizerState) return Severity::kNone;
  const uint64_t nan = s.get(OpCount::kNan).value_or(0);
  const uint64_t inf =
      s.get(OpCount::kPosInf).value_or(0) + s.get(OpCount::kNegInf).value_or(0);
  if (nan + inf == 0) return episode_.severity();
  if (!episode_.open()) {
    nan_ = nan;
    inf_ = inf;
    elements_ = s.elements;
  }
  return episode_.On(Severity::kCritical, false, s.step, 1);
}

void OptimizerStateNonfinite::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      nan_, " NaN and ", inf_, " infinite of ", elements_,
      " elements of this optimizer state since step ", finding->opened_step,
      nan_ > 0 ? ": their updates are NaN from then on"
               : ": their updates are NaN, or 0 for ever",
      "; go back to a checkpoint before that step.");
  finding->numbers = {{"nan", static_cast<double>(nan_), "elements"},
                      {"inf", static_cast<double>(inf_), "elements"},
                      {"elements", static_cast<double>(elements_), "elements"}};
}

}  // namespace nanwatch
