// Grouping: which findings are one incident. Findings of one cause are; those
// that no cause explains are together by family and op, whatever the rank.

#ifndef NANWATCH_ALERT_GROUPING_H_
#define NANWATCH_ALERT_GROUPING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/diagnosis.h"
#include "model/finding.h"

namespace nanwatch {

// Points into the findings and the diagnosis that it was made of.
struct FindingGroup {
  const CauseVerdict* cause = nullptr;  // null: no verdict explains it
  // The first cause first: by step, ops before runs, then by rule and subject.
  std::vector<const Finding*> findings;

  Severity severity() const;  // the worst, each under the cause's ceiling
  // Returns what the cause rests on, else the first cause. REQUIRES: there is
  // one.
  const Finding& head() const;
  // True when the cause names it, and it is found.
  bool named() const;
  // False for kUnexplained too: an incident is not recognised by that.
  bool has_cause() const {
    return cause != nullptr && cause->cause != Cause::kUnexplained;
  }
};

// What an incident is named after: the first of its findings, by step, then ops
// before the rest, then by rule, rank and the rest of the subject. Which rank
// was heard first does not show.
struct Origin {
  int64_t step = 0;
  Family family = Family::kScale;
  RuleId rule = RuleId::kNone;
  Subject subject;
};
template <typename A>
void Fields(A& a, Origin& o) {
  a(o.step, o.family, o.rule, o.subject);
}
Origin OriginOf(const Finding& finding);
bool Earlier(const Origin& a, const Origin& b);

// Returns the groups by opening step of the first finding.
std::vector<FindingGroup> GroupFindings(std::span<const Finding> findings,
                                        const Diagnosis& diagnosis);

// Returns a hash that changes when who is found, how severe or why changes; not
// with numbers, sentences and newest steps.
uint64_t ShapeOf(std::span<const Finding> findings, const Diagnosis& diagnosis);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_GROUPING_H_
