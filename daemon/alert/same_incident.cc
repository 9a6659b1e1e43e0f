#include "alert/same_incident.h"

#include <algorithm>
#include <string>

namespace nanwatch {

bool SameFinding(const Finding& a, const Finding& b) {
  return a.rule == b.rule && a.subject == b.subject;
}

bool SameButForTheRank(const Finding& a, const Finding& b) {
  return a.rule == b.rule && a.subject.op == b.subject.op &&
         a.subject.optimizer == b.subject.optimizer;
}

bool SameCause(const Incident& incident, const FindingGroup& group) {
  if (!group.has_cause() || incident.cause != group.cause->cause) return false;
  const std::string& op = group.cause->origin.op;
  return op.empty() || incident.subject.op == op;
}

bool SameUnexplained(const Incident& incident, const Origin& named,
                     const FindingGroup& group) {
  const Finding& first = *group.findings[0];
  return !group.has_cause() && incident.cause == Cause::kUnexplained &&
         named.family == first.family && named.subject.op == first.subject.op;
}

bool IsBetter(const FindingGroup& group, const Origin& name) {
  return group.head().rule != name.rule &&
         std::any_of(group.findings.begin(), group.findings.end(),
                     [&](const Finding* f) { return f->rule == name.rule; });
}

InSummary InSummaryOf(const FindingGroup& group, bool known,
                      const Finding& finding) {
  if (!known) {
    return SameFinding(finding, *group.findings[0]) ? InSummary::kAll
                                                    : InSummary::kNot;
  }
  const bool quoted = finding.rule == group.cause->quoted_rule &&
                      finding.subject == group.cause->quoted;
  return quoted ? group.cause->quoted_as : InSummary::kNot;
}

}  // namespace nanwatch
