#include "diagnose/consequences.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

bool IsOfBadOp(const Finding& finding) {
  return !finding.subject.op.empty() && kBadOp.has(finding.rule);
}

}  // namespace

void ExplainBadSince(const Case& c, int64_t step, CauseVerdict* verdict) {
  for (const OpEvidence& op : c.evidence.ops) {
    if (op.last_bad_step >= step && !IsHarmless(c, op)) {
      verdict->ops.push_back(op.op.name);
    }
  }
  ExplainUnlisted(c, step, verdict);
}

void ExplainBadFor(const Case& c, const OpEvidence& origin,
                   CauseVerdict* verdict) {
  for (const OpEvidence& op : c.evidence.ops) {
    if (IsHarmless(c, op)) continue;
    const bool follows =
        IsGradient(op)
            ? op.last_bad_step >= origin.first_bad_step
            : IsForward(origin) && op.first_bad_step >= origin.first_bad_step;
    if (follows) verdict->ops.push_back(op.op.name);
  }
  ExplainUnlisted(c, origin.first_bad_step, verdict);
}

void ExplainUnlisted(const Case& c, int64_t step, CauseVerdict* verdict) {
  const std::vector<OpEvidence>& ops = c.evidence.ops;
  if (ops.size() < static_cast<size_t>(limits::kOpEvidence)) return;
  std::set<std::string_view> listed;
  int64_t newest = step;
  for (const OpEvidence& op : ops) {
    listed.insert(op.op.name);
    if (!IsGradient(op)) newest = std::max(newest, op.last_bad_step);
  }
  std::set<std::string_view> unlisted;
  for (const Finding& finding : c.findings) {
    if (!IsOfBadOp(finding) || listed.contains(finding.subject.op)) continue;
    const bool came = IsOfGradient(finding.subject.slot)
                          ? finding.last_step >= step
                          : finding.opened_step >= step &&
                                finding.opened_step <= newest + kRecentSteps;
    if (came) unlisted.insert(finding.subject.op);
  }
  verdict->unlisted_ops.assign(unlisted.begin(), unlisted.end());
}

}  // namespace nanwatch
