// A loss that has values which none of its kind can have.

#include "diagnose/cause_form.h"

namespace nanwatch {

bool WhenLossMadeWrong(const Facts& f, const Matches&, Match* match) {
  const auto impossible = [](const Finding& finding) {
    return finding.rule == RuleId::kLossImpossible &&
           NumberOf(finding, "loss").value_or(0) <= 0;
  };
  if (!match->BeginAt(f.found.FirstOfTheWorst(impossible))) return false;
  match->verdict.rule = RuleId::kLossImpossible;
  // Of a note it is no more than likely which loss it is.
  match->verdict.grade = match->finding->severity > Severity::kInfo
                             ? EvidenceGrade::kEstablished
                             : EvidenceGrade::kHypothesis;
  return true;
}

void SayLossMadeWrong(const Facts&, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
}

}  // namespace nanwatch
