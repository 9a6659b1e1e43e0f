#include "diagnose/nan_rule.h"

namespace nanwatch {

RuleId RuleOfNan(const Facts& f, const CauseVerdict& verdict) {
  for (const bool of_scale : {false, true}) {
    const Finding* op = f.found.FirstWhere([&](const Finding& finding) {
      return !finding.subject.op.empty() &&
             finding.subject.op == verdict.origin.op &&
             (finding.family == Family::kScale) == of_scale &&
             Explains(verdict, finding);
    });
    if (op != nullptr) return op->rule;
  }
  return f.found.has(RuleId::kLossNonfinite) ? RuleId::kLossNonfinite
                                             : RuleId::kNone;
}

}  // namespace nanwatch
