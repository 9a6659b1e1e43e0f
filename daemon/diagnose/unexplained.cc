// What is found and nothing above explains. Said so, rather than guessed at.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"

namespace nanwatch {

std::optional<CauseVerdict> Unexplained(const Case& c,
                                        const Diagnosis& others) {
  const Finding* worst = nullptr;
  CauseVerdict verdict;
  for (const Finding& finding : c.findings) {
    if (FirstCause(others, finding) != nullptr) continue;
    verdict.rules.Add(finding.rule);
    if (worst == nullptr || finding.severity > worst->severity) {
      worst = &finding;
    }
  }
  if (worst == nullptr) return std::nullopt;
  verdict.cause = Cause::kUnexplained;
  verdict.grade = EvidenceGrade::kHypothesis;
  verdict.origin = worst->subject;
  verdict.step = worst->opened_step;
  // Of a note nobody looks for a cause.
  verdict.sentence = worst->severity > Severity::kInfo
                         ? "No known cause explains this: " + worst->sentence
                         : worst->sentence;
  if (!c.evidence.ops_collected) {
    verdict.evidence.push_back(
        {EvidenceGrade::kHypothesis,
         "No op status was collected, so that no op can be named."});
  }
  return verdict;
}

}  // namespace nanwatch
