// FindingIndex: what is found now, by rule. One pass over the findings answers
// what the causes ask of them.

#ifndef NANWATCH_DIAGNOSE_FINDING_INDEX_H_
#define NANWATCH_DIAGNOSE_FINDING_INDEX_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "model/finding.h"
#include "model/rule_id.h"
#include "model/severity.h"

namespace nanwatch {

class FindingIndex {
 public:
  // Keeps the span: the findings outlive the index.
  explicit FindingIndex(std::span<const Finding> findings);

  auto begin() const { return findings_.begin(); }
  auto end() const { return findings_.end(); }
  bool empty() const { return findings_.empty(); }

  // Returns the rules that have a finding.
  const RuleSet& rules() const { return rules_; }
  bool has(RuleId rule) const { return rules_.has(rule); }
  bool HasAny(const RuleSet& of) const { return !(rules_ & of).empty(); }
  // Returns the severity of its worst finding; kNone without one.
  Severity worst(RuleId rule) const { return by_rule_[At(rule)].worst; }

  // Returns the finding that opened at the lowest step, of equal ones the first
  // in order; null without one.
  const Finding* First(RuleId rule) const { return by_rule_[At(rule)].first; }
  const Finding* First(const RuleSet& of) const;
  // Returns the same of those that `wanted` takes.
  template <typename Wanted>
  const Finding* FirstWhere(Wanted&& wanted) const {
    const Finding* first = nullptr;
    for (const Finding& finding : findings_) {
      if (!wanted(finding)) continue;
      if (first == nullptr || finding.opened_step < first->opened_step) {
        first = &finding;
      }
    }
    return first;
  }
  // Returns the same of the worst that `wanted` takes.
  template <typename Wanted>
  const Finding* FirstOfTheWorst(Wanted&& wanted) const {
    Severity worst = Severity::kNone;
    for (const Finding& finding : findings_) {
      if (wanted(finding)) worst = std::max(worst, finding.severity);
    }
    return FirstWhere([&](const Finding& finding) {
      return finding.severity == worst && wanted(finding);
    });
  }
  template <typename Wanted>
  bool Any(Wanted&& wanted) const {
    return std::any_of(begin(), end(), wanted);
  }

  // True when every finding of the rule opened at a step in [from, to]; also
  // when nothing is found of it.
  bool AllOpenedIn(RuleId rule, int64_t from, int64_t to) const;

 private:
  struct OfRule {
    const Finding* first = nullptr;
    int64_t last_opened = INT64_MIN;  // highest opening step
    Severity worst = Severity::kNone;
  };
  static size_t At(RuleId rule) { return static_cast<size_t>(rule) % kRuleIds; }

  std::span<const Finding> findings_;
  RuleSet rules_;
  std::array<OfRule, kRuleIds> by_rule_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FINDING_INDEX_H_
