// A loss that leaves that of the run's benchmark.

#include "diagnose/cause_form.h"

namespace nanwatch {

bool WhenLeftBenchmark(const Facts& f, const Matches&, Match* match) {
  const auto left = [](const Finding& finding) {
    return finding.rule == RuleId::kBenchLossDivergence;
  };
  if (!match->BeginAt(f.found.FirstOfTheWorst(left))) return false;
  match->verdict.rule = RuleId::kBenchLossDivergence;
  // That it left is measured. Whether somebody meant it is not known.
  match->verdict.grade = EvidenceGrade::kSupported;
  return true;
}

void SayLeftBenchmark(const Facts&, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
}

}  // namespace nanwatch
