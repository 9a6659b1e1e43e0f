// Ranks that must agree do not: on the scale, on skipping, on the replica.

#include "diagnose/cause_form.h"
#include "diagnose/first_look.h"

namespace nanwatch {

bool WhenRanksDisagree(const Facts& f, const Matches&, Match* match) {
  if (!match->BeginAt(f.found.First(match->verdict.rules))) return false;
  // Of a rank that has left the others its data may be the reason.
  const bool left = match->finding->rule == RuleId::kRankApart;
  match->verdict.grade =
      left ? EvidenceGrade::kSupported : EvidenceGrade::kEstablished;
  return true;
}

void SayRanksDisagree(const Facts&, Match* match) {
  // The others say so themselves, or only count steps differently.
  const bool apart = NumberOf(*match->finding, "apart").value_or(0) == 1;
  // Replicas that never were equal may well keep their distance.
  const bool drifts = !apart && !NumberOf(*match->finding, "never_equal") &&
                      (match->finding->rule == RuleId::kScaleRankMismatch ||
                       match->finding->rule == RuleId::kReplicaDivergence);
  match->Say(match->Quote(*match->finding,
                          drifts ? InSummary::kPart : InSummary::kAll) +
             (drifts ? " The weights of these ranks drift apart." : ""));
  if (match->finding->rule == RuleId::kRankApart) {
    match->Advise(std::string(kLookAtRank));
  }
  if (!apart) return;
  match->Advise(
      "Wrap the model in DistributedDataParallel before the optimizer is made, "
      "call that and not its .module, and let the last backward() before "
      "step() run outside of no_sync(). Ranks that train apart on purpose are "
      "runs of their own.",
      "pytorch");
}

}  // namespace nanwatch
