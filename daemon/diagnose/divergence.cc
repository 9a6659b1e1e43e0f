// Divergence: loss or gradients grow although nothing overflows.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"

namespace nanwatch {

std::optional<CauseVerdict> Divergence(const Case& c) {
  static constexpr int kRules[] = {27, 28, 34, 35, 40};
  const RunEvidence& e = c.evidence;
  const Finding* first = nullptr;
  for (const Finding& finding : c.findings) {
    if (std::find(std::begin(kRules), std::end(kRules), finding.rule) ==
        std::end(kRules)) {
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
  verdict.rules.assign(std::begin(kRules), std::end(kRules));
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
