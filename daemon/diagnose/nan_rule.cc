#include "diagnose/nan_rule.h"

#include <algorithm>

#include "diagnose/first_found.h"

namespace nanwatch {

RuleId RuleOfNan(const Case& c, const CauseVerdict& verdict) {
  constexpr RuleId kLossNonfinite = RuleId::kLossNonfinite;
  for (const bool of_scale : {false, true}) {
    const Finding* op = FirstFound(c.findings, [&](const Finding& finding) {
      return !finding.subject.op.empty() &&
             finding.subject.op == verdict.origin.op &&
             (finding.family == Family::kScale) == of_scale &&
             Explains(verdict, finding);
    });
    if (op != nullptr) return op->rule;
  }
  const bool loss = std::any_of(
      c.findings.begin(), c.findings.end(),
      [](const Finding& finding) { return finding.rule == kLossNonfinite; });
  return loss ? kLossNonfinite : RuleId::kNone;
}

}  // namespace nanwatch
