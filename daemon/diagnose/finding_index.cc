#include "diagnose/finding_index.h"

namespace nanwatch {

FindingIndex::FindingIndex(std::span<const Finding> findings)
    : findings_(findings) {
  for (const Finding& finding : findings_) {
    OfRule& of = by_rule_[At(finding.rule)];
    rules_.Add(finding.rule);
    if (of.first == nullptr || finding.opened_step < of.first->opened_step) {
      of.first = &finding;
    }
    of.last_opened = std::max(of.last_opened, finding.opened_step);
    of.worst = std::max(of.worst, finding.severity);
  }
}

const Finding* FindingIndex::First(const RuleSet& of) const {
  if (!HasAny(of)) return nullptr;
  const Finding* first = nullptr;
  for (const RuleId rule : rules_& of) {
    const Finding* const here = First(rule);
    const bool earlier =
        first == nullptr || here->opened_step < first->opened_step ||
        (here->opened_step == first->opened_step && here < first);
    if (earlier) first = here;
  }
  return first;
}

bool FindingIndex::AllOpenedIn(RuleId rule, int64_t from, int64_t to) const {
  const OfRule& of = by_rule_[At(rule)];
  return of.first == nullptr ||
         (of.first->opened_step >= from && of.last_opened <= to);
}

}  // namespace nanwatch
