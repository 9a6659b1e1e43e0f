// The program of a rank did not end in order, as its client says.

#include <algorithm>

#include "diagnose/cause_form.h"
#include "model/records_ended.h"

namespace nanwatch {
namespace {

constexpr RuleSet kOwn = {RuleId::kProgramEnded};

ProgramEnd::Kind KindOf(const Finding& finding) {
  return static_cast<ProgramEnd::Kind>(
      static_cast<int>(NumberOf(finding, "kind").value_or(0)));
}

void AdviseOn(ProgramEnd::Kind kind, Match* match) {
  switch (kind) {
    case ProgramEnd::Kind::kOutOfMemory:
      match->Advise(
          "Lower the batch (and accumulate gradients over more of them), or "
          "the length of sequences; checkpoint activations; see whether "
          "something keeps graphs alive, such as losses that are summed as "
          "tensors.");
      break;
    case ProgramEnd::Kind::kInterrupt:
      match->Advise("Nothing: a person ended it.");
      break;
    case ProgramEnd::Kind::kSignal:
      match->Advise(
          "See who sent the signal: a scheduler at its time limit, a launcher "
          "because of another rank, a person.");
      break;
    default:
      match->Advise("Read the traceback in the program's own output.");
  }
}

}  // namespace

bool WhenProgramEnded(const Facts& f, const Matches&, Match* match) {
  match->verdict.grade = EvidenceGrade::kEstablished;
  return match->BeginAt(f.found.First(RuleId::kProgramEnded));
}

void SayProgramEnded(const Facts& f, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  const RunEvidence& e = f.evidence;
  const bool was = !e.earlier.empty() && !kOwn.has(e.earlier_rule);
  const bool sick = was || f.found.Any([](const Finding& finding) {
    return !kOwn.has(finding.rule) && finding.severity > Severity::kInfo;
  });
  if (!sick && e.updates > 0) {
    match->Support(EvidenceGrade::kEstablished,
                   "The numbers up to its last step show no trouble.");
  }
  AdviseOn(KindOf(*match->finding), match);
}

}  // namespace nanwatch
