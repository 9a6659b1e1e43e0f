#include "alert/grouping.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "base/fnv1a.h"

namespace nanwatch {
namespace {

// Makes a key of an Origin or a Finding; false sorts first.
auto Order(int64_t step, Family family, RuleId rule, const Subject& subject) {
  return std::tuple(
      step, subject.op.empty(), family != Family::kOp, rule,
      std::tie(subject.rank, subject.optimizer, subject.op, subject.slot));
}

bool FindingEarlier(const Finding* a, const Finding* b) {
  return Order(a->opened_step, a->family, a->rule, a->subject) <
         Order(b->opened_step, b->family, b->rule, b->subject);
}

// Place of the cause in the diagnosis, family, op: equal for findings that
// belong together.
using GroupKey = std::tuple<int, Family, std::string_view>;

GroupKey KeyOf(const Finding& finding, const Diagnosis& diagnosis,
               const CauseVerdict* cause) {
  const int place =
      cause == nullptr ? -1 : static_cast<int>(cause - &diagnosis.causes[0]);
  if (cause != nullptr && cause->cause != Cause::kUnexplained) {
    return {place, Family::kScale, {}};
  }
  return {place, finding.family, finding.subject.op};
}

}  // namespace

Origin OriginOf(const Finding& finding) {
  return {finding.opened_step, finding.family, finding.rule, finding.subject};
}

bool Earlier(const Origin& a, const Origin& b) {
  return Order(a.step, a.family, a.rule, a.subject) <
         Order(b.step, b.family, b.rule, b.subject);
}

Severity FindingGroup::severity() const {
  Severity worst = Severity::kNone;
  for (const Finding* finding : findings) {
    worst = std::max(
        worst, cause == nullptr ? finding->severity : Capped(*cause, *finding));
  }
  return worst;
}

const Finding& FindingGroup::head() const {
  for (const Finding* finding : findings) {
    if (cause != nullptr && finding->rule == cause->rule) return *finding;
  }
  return *findings[0];
}

bool FindingGroup::named() const {
  return cause != nullptr && cause->rule == head().rule;
}

std::vector<FindingGroup> GroupFindings(std::span<const Finding> findings,
                                        const Diagnosis& diagnosis) {
  std::map<GroupKey, FindingGroup> groups;
  for (const Finding& finding : findings) {
    const CauseVerdict* cause = FirstCause(diagnosis, finding);
    FindingGroup& group = groups[KeyOf(finding, diagnosis, cause)];
    group.cause = cause;
    group.findings.push_back(&finding);
  }
  std::vector<FindingGroup> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) {
    std::sort(group.findings.begin(), group.findings.end(), FindingEarlier);
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const FindingGroup& a, const FindingGroup& b) {
                     return FindingEarlier(a.findings[0], b.findings[0]);
                   });
  return sorted;
}

uint64_t ShapeOf(std::span<const Finding> findings,
                 const Diagnosis& diagnosis) {
  Fnv1a hash;
  for (const Finding& finding : findings) {
    hash.Put(static_cast<uint64_t>(finding.rule) << 8 |
             static_cast<uint64_t>(finding.severity));
    hash.Put(static_cast<uint64_t>(finding.opened_step));
    hash.Put(static_cast<uint64_t>(finding.subject.rank) << 8 |
             static_cast<uint64_t>(finding.subject.slot));
    hash.PutSized(finding.subject.op);
    hash.PutSized(finding.subject.optimizer);
  }
  for (const CauseVerdict& cause : diagnosis.causes) {
    hash.Put(static_cast<uint64_t>(cause.cause) << 16 |
             static_cast<uint64_t>(cause.grade) << 8 |
             static_cast<uint64_t>(cause.ceiling));
    hash.Put(static_cast<uint64_t>(cause.rules.size()) << 32 |
             cause.uncapped.size());
    hash.Put(static_cast<uint64_t>(cause.rule));
    for (const std::string& op : cause.ops) hash.PutSized(op);
    for (const std::string& op : cause.unlisted_ops) hash.PutSized(op);
  }
  return hash.value();
}

}  // namespace nanwatch
