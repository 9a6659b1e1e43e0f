// Ranks that must agree do not: on the scale, on skipping, on the replica.

#include "diagnose/causes.h"
#include "diagnose/first_found.h"

namespace nanwatch {

std::optional<CauseVerdict> RankDisagreement(const Case& c) {
  const Finding* first = FirstFound(c.findings, [](const Finding& finding) {
    return finding.rule == 12 || finding.rule == 13 || finding.rule == 49 ||
           finding.rule == 56;
  });
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kRankDisagreement;
  verdict.rules = {12, 13, 49, 56};
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.sentence = first->sentence;
  // The others say so themselves, or only count steps differently.
  if (first->rule == 12 || first->rule == 49) {
    verdict.sentence += " The weights of these ranks drift apart.";
  }
  return verdict;
}

}  // namespace nanwatch
