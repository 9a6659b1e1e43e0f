#include "detect/weight_nonfinite.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec WeightNonfinite::kSpec = {
    16,
    "weight_nonfinite",
    Family::kWeight,
    "A parameter tensor holds NaN or infinities, and no later update repairs "
    "it.",
    "Any NaN or infinite element in a parameter.",
    "Never within an attempt: go back to a checkpoint before that step.",
    {}};

Severity WeightNonfinite::OnOp(const OpContext& c, Thresholds) {
  const OpStatus& s = c.status;
  if (s.slot != Slot::kParameter) return Severity::kNone;
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

void WeightNonfinite::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence(nan_, " NaN and ", inf_, " infinite of ", elements_,
               " elements of this parameter since step ", finding->opened_step,
               ": go back to a checkpoint before that step.");
  finding->numbers = {{"nan", static_cast<double>(nan_), "elements"},
                      {"inf", static_cast<double>(inf_), "elements"},
                      {"elements", static_cast<double>(elements_), "elements"}};
}

}  // namespace nanwatch
