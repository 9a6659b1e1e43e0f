// Ranks that must agree do not: on the scale, on skipping, on the replica.

#include "diagnose/cause_form.h"

namespace nanwatch {

bool WhenRanksDisagree(const Facts& f, const Matches&, Match* match) {
  match->finding = f.found.First(match->verdict.rules);
  if (match->finding == nullptr) return false;
  match->verdict.origin = match->finding->subject;
  match->verdict.step = match->finding->opened_step;
  match->verdict.grade = EvidenceGrade::kEstablished;
  return true;
}

void SayRanksDisagree(const Facts&, Match* match) {
  // The others say so themselves, or only count steps differently.
  const bool drifts = match->finding->rule == RuleId::kScaleRankMismatch ||
                      match->finding->rule == RuleId::kReplicaDivergence;
  match->Say(match->Quote(*match->finding,
                          drifts ? InSummary::kPart : InSummary::kAll) +
             (drifts ? " The weights of these ranks drift apart." : ""));
}

}  // namespace nanwatch
