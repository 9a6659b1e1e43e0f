// FirstFound: where a trouble began, of all that was found of it.

#ifndef NANWATCH_DIAGNOSE_FIRST_FOUND_H_
#define NANWATCH_DIAGNOSE_FIRST_FOUND_H_

#include <algorithm>
#include <span>

#include "model/finding.h"
#include "model/severity.h"

namespace nanwatch {

// Of those that `wanted` takes the one that opened at the lowest step, of equal
// ones the first; null: none. It points into `findings`.
template <typename Wanted>
const Finding* FirstFound(std::span<const Finding> findings, Wanted&& wanted) {
  const Finding* first = nullptr;
  for (const Finding& finding : findings) {
    if (!wanted(finding)) continue;
    if (first == nullptr || finding.opened_step < first->opened_step) {
      first = &finding;
    }
  }
  return first;
}

// Likewise of those of one rule.
inline const Finding* FirstOfRule(std::span<const Finding> findings,
                                  RuleId rule) {
  return FirstFound(findings,
                    [rule](const Finding& f) { return f.rule == rule; });
}

// Likewise of the worst of them.
template <typename Wanted>
const Finding* FirstOfTheWorst(std::span<const Finding> findings,
                               Wanted&& wanted) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : findings) {
    if (wanted(finding)) worst = std::max(worst, finding.severity);
  }
  return FirstFound(findings, [&](const Finding& finding) {
    return finding.severity == worst && wanted(finding);
  });
}

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FIRST_FOUND_H_
