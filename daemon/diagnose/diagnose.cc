#include "diagnose/diagnose.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <utility>

#include "diagnose/actions.h"
#include "diagnose/causes.h"
#include "diagnose/facts.h"
#include "diagnose/framework.h"
#include "diagnose/headline.h"
#include "diagnose/op_facts.h"
#include "diagnose/rank.h"

namespace nanwatch {
namespace {

// True when nothing was ever odd: no cause needs to be looked for.
bool IsSpotless(const RunEvidence& e, std::span<const Finding> findings) {
  return findings.empty() && e.last_overflow_step < 0 && e.overflows == 0 &&
         e.ops.empty() && e.loss_nonfinite == 0 && e.outliers.empty() &&
         e.earlier.empty();
}

void SayUnexplained(const Facts& f, Match* match) {
  // Of a note nobody looks for a cause. What has advice of its own says what it
  // is.
  const Finding& finding = *match->finding;
  const std::string& op = finding.subject.op;
  const std::string lead =
      finding.severity <= Severity::kInfo || HasOwnAdvice(finding) ? ""
      : op.empty() ? "No known cause explains this. "
                   : "No known cause explains this of " + op + ". ";
  match->Quote(finding, lead.empty() ? InSummary::kAll : InSummary::kPart);
  match->Say(
      InBothTenses([&](Tense tense) { return lead + finding.Said(tense); }));
  if (!f.evidence.ops_collected && !HasOwnAdvice(finding)) {
    match->Support(EvidenceGrade::kHypothesis,
                   "No op status was collected, so no op can be named.");
  }
}

void SayMemory(const RunEvidence& e, Match* match) {
  match->Say(e.earlier_to < 0 ? "Not found any more: " + e.earlier
                              : fmt::format("Over since step {}. {}",
                                            e.earlier_to, e.earlier));
}

void SayCause(const Facts& f, Match* match) {
  if (match->form == Form::kUnexplained) return SayUnexplained(f, match);
  AllForms()[static_cast<size_t>(match->form)].say(f, match);
}

// Adds actions after those that the cause made itself out of its numbers; of
// these, too, only the framework's.
void AddActions(const Facts& f, std::string_view framework,
                CauseVerdict* cause) {
  std::erase_if(cause->actions, [&](const Action& action) {
    return !IsMeantFor(action.framework, framework);
  });
  const Situation situation = SituationOf(f, *cause);
  for (Action& action : cause->actions) {
    action.sentence =
        WithWayBack(action.sentence, cause->step, situation.from_start);
  }
  for (Action& action : ActionsFor(cause->cause, situation, framework)) {
    cause->actions.push_back(std::move(action));
  }
  KeepGeneral(framework, &cause->actions);
}

// Adds type and dtype of the op that it began in. Of an op that was never bad
// no more than its name is known here.
void AddTypes(const RunEvidence& evidence, CauseVerdict* cause) {
  for (const OpEvidence& op : evidence.ops) {
    if (!IsOf(op, cause->origin)) continue;
    cause->op_type = op.op.type;
    cause->op_dtype = op.op.dtype;
    return;
  }
}

}  // namespace

Diagnosis Diagnose(const RunDescription& run, const RunEvidence& evidence,
                   std::span<const Finding> findings,
                   const RuleThresholds& thresholds) {
  Diagnosis diagnosis;
  const Case c{run, evidence, CauseThresholds(thresholds)};
  if (IsSpotless(evidence, findings)) {
    SetHealthyHeadline(c, &diagnosis);
    return diagnosis;
  }
  const Facts f(c, findings);
  Matches matches = MatchAll(f);
  Ranked ranked = Rank(f, &matches);
  const std::string framework = FrameworkOf(run, evidence);
  for (Match& match : ranked.causes) {
    if (ranked.first_is_memory && &match == &ranked.causes[0]) {
      SayMemory(evidence, &match);
    } else {
      SayCause(f, &match);
    }
    AddActions(f, framework, &match.verdict);
    AddTypes(evidence, &match.verdict);
  }
  const bool known_better = IsKnownBetter(f, ranked.causes);
  for (Match& match : ranked.causes) {
    diagnosis.causes.push_back(std::move(match.verdict));
  }
  SetHeadline(f, known_better, ranked.first_is_memory, &diagnosis);
  return diagnosis;
}

}  // namespace nanwatch
