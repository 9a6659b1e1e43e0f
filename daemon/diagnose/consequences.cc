#include "diagnose/consequences.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>

#include "diagnose/padding.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// Of an op that was bad.
constexpr int kBadOpRules[] = {8, 18, 19, 20, 21, 22};

bool IsOfBadOp(const Finding& finding) {
  return !finding.subject.op.empty() &&
         std::count(std::begin(kBadOpRules), std::end(kBadOpRules),
                    finding.rule) > 0;
}

}  // namespace

std::vector<std::string> BadSince(const Case& c, int64_t step) {
  std::vector<std::string> names;
  for (const OpEvidence& op : c.evidence.ops) {
    if (op.last_bad_step >= step && !IsHarmless(c, op)) {
      names.push_back(op.op.name);
    }
  }
  AddUnlisted(c, step, &names);
  return names;
}

void AddUnlisted(const Case& c, int64_t step, std::vector<std::string>* names) {
  if (c.evidence.ops.size() < static_cast<size_t>(limits::kOpEvidence)) return;
  std::unordered_set<std::string_view> known;
  for (const OpEvidence& op : c.evidence.ops) known.insert(op.op.name);
  for (const Finding& finding : c.findings) {
    if (IsOfBadOp(finding) && finding.opened_step >= step &&
        known.insert(finding.subject.op).second) {
      names->push_back(finding.subject.op);
    }
  }
}

}  // namespace nanwatch
