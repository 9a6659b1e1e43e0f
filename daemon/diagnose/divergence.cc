// Divergence: loss or gradients grow although nothing overflows.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"

namespace nanwatch {

namespace {

// Rule 38 has two sides: updates too large, and too small to change anything.
bool IsSmallUpdate(const Finding& finding) {
  return finding.rule == 38 && !finding.numbers.empty() &&
         finding.numbers[0].value < 1e-3;
}

}  // namespace

std::optional<CauseVerdict> Divergence(const Case& c) {
  static constexpr int kRules[] = {26, 27, 28, 29, 34, 35, 38, 40};
  const RunEvidence& e = c.evidence;
  const Finding* first = nullptr;
  for (const Finding& finding : c.findings) {
    if (std::find(std::begin(kRules), std::end(kRules), finding.rule) ==
            std::end(kRules) ||
        IsSmallUpdate(finding)) {
      continue;
    }
    if (first == nullptr || finding.opened_step < first->opened_step) {
      first = &finding;
    }
  }
  if (first == nullptr) return std::nullopt;
  // An overflow just before would be the simpler cause.
  constexpr int64_t kLead = 50;
  const bool overflowed = e.last_overflow_step >= 0 &&
                          first->opened_step - e.last_overflow_step < kLead &&
                          e.overflows_last_50 > 0;
  CauseVerdict verdict;
  verdict.cause = Cause::kDivergence;
  verdict.grade =
      overflowed ? EvidenceGrade::kHypothesis : EvidenceGrade::kSupported;
  for (const int rule : kRules) {
    const bool small = std::any_of(
        c.findings.begin(), c.findings.end(),
        [&](const Finding& f) { return f.rule == rule && IsSmallUpdate(f); });
    if (!small) verdict.rules.push_back(rule);
  }
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  verdict.sentence = fmt::format(
      "The training diverges since step {}{}: {}", first->opened_step,
      overflowed ? "" : " without an overflow", first->sentence);
  if (e.ops_collected && e.ops.empty()) {
    verdict.evidence.push_back({EvidenceGrade::kEstablished,
                                "No op was ever bad: the numbers are finite "
                                "and inside their range."});
  }
  return verdict;
}

}  // namespace nanwatch
