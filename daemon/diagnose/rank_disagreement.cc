// Ranks that must agree do not: on the scale, on skipping, on the replica.

#include "diagnose/causes.h"
#include "diagnose/first_found.h"

namespace nanwatch {

std::optional<CauseVerdict> RankDisagreement(const Case& c) {
  const Finding* first = FirstFound(c.findings, [](const Finding& finding) {
    return finding.rule == RuleId::kScaleRankMismatch ||
           finding.rule == RuleId::kSkipRankMismatch ||
           finding.rule == RuleId::kReplicaDivergence ||
           finding.rule == RuleId::kStepRankSkew;
  });
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kRankDisagreement;
  verdict.rules = {RuleId::kScaleRankMismatch, RuleId::kSkipRankMismatch,
                   RuleId::kReplicaDivergence, RuleId::kStepRankSkew};
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.sentence = first->sentence;
  // The others say so themselves, or only count steps differently.
  if (first->rule == RuleId::kScaleRankMismatch ||
      first->rule == RuleId::kReplicaDivergence) {
    verdict.sentence += " The weights of these ranks drift apart.";
  }
  return verdict;
}

}  // namespace nanwatch
