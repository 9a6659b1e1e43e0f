// A loss that is back where it began, or higher after a restart than before: no
// training that diverges, but one that lost what it had learned.

#include "diagnose/cause_form.h"

namespace nanwatch {

bool WhenWeightsLost(const Facts& f, const Matches&, Match* match) {
  if (f.grown != nullptr || !f.found.HasAny(kLossLevel)) return false;
  const Finding* first = f.found.FirstWhere([](const Finding& finding) {
    return kLossLevel.has(finding.rule) && finding.severity > Severity::kInfo;
  });
  if (first == nullptr) return false;
  // It comes at once: gradients that left their level before led there. So did
  // those that left it with a loss that settles far below where it began: fresh
  // weights learn.
  const Finding* norm = f.found.First(kNorm);
  const bool led =
      norm != nullptr &&
      norm->opened_step <
          first->opened_step + (NumberOf(*first, "settles") ? 1 : 0);
  const bool lost = NumberOf(*first, "loss_before_restart") ||
                    (NumberOf(*first, "anew") && !led);
  if (!lost) return false;
  match->BeginAt(first);
  CauseVerdict& verdict = match->verdict;
  verdict.grade = EvidenceGrade::kSupported;
  verdict.rule = first->rule;
  verdict.rules |= f.with_the_loss | f.after_the_loss | kNorm;
  verdict.rules.Add(RuleId::kScoreLost);
  return true;
}

void SayWeightsLost(const Facts&, Match* match) {
  const Finding& finding = *match->finding;
  match->Quote(finding, InSummary::kAll);
  match->Say(InBothTenses([&](Tense tense) { return finding.Said(tense); }));
}

}  // namespace nanwatch
