// Start-up calibration: a dynamic scaler begins high and falls until the
// gradients fit. Harmless, and over after the grace of the scaler.

#include <spdlog/fmt/fmt.h>

#include "diagnose/cause_form.h"
#include "diagnose/consequences.h"
#include "diagnose/op_facts.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// Updates; windows of rules still see the start for so long after it is over.
constexpr int64_t kRemembered = 1000;  // as overflow_rate's

// True when ops that were bad then are clean since; or, while it lasts, only
// gradients and infinities are bad.
bool OpsFit(const Facts& f, bool over) {
  const RunEvidence& e = f.evidence;
  for (const OpEvidence& op : e.ops) {
    if (f.IsHarmless(op)) continue;
    if (IsForward(op) && op.nan > 0) return false;
    if (over && op.last_bad_step > e.last_overflow_step) return false;
  }
  return true;
}

bool HasForwardOp(const Facts& f) {
  for (const OpEvidence& op : f.evidence.ops) {
    if (IsForward(op) && !f.IsHarmless(op)) return true;
  }
  return false;
}

// Returns the rules that found an op which turned bad when the search was over.
RuleSet CameLater(const Facts& f) {
  RuleSet later;
  for (const Finding& finding : f.found) {
    if (!finding.subject.op.empty() &&
        finding.opened_step > f.evidence.last_overflow_step) {
      later.Add(finding.rule);
    }
  }
  return later;
}

}  // namespace

bool WhenStartUp(const Facts& f, const Matches&, Match* match) {
  const RunEvidence& e = f.evidence;
  if (!e.scaler_dynamic || e.overflows == 0 || e.loss_nonfinite > 0 ||
      e.impossible_transitions > 0 || f.stuck) {
    return false;
  }
  const bool over = StartUpIsOver(e);
  if (!over && !(e.in_grace && e.first_good_step < 0)) return false;
  if (over && e.last_step - e.first_good_step > kRemembered) return false;
  if (!OpsFit(f, over)) return false;
  CauseVerdict& verdict = match->verdict;
  // A forward op that overflows is not the scale's doing, unless it stops with
  // the falling scale. The benefit of the doubt lasts as long as the grace.
  verdict.grade = HasForwardOp(f) && !over ? EvidenceGrade::kSupported
                                           : EvidenceGrade::kEstablished;
  if (over) verdict.rules -= CameLater(f);
  ExplainBadSince(f, 0, &verdict);
  verdict.step = e.first_overflow_step;
  return true;
}

void SayStartUp(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  const bool over = StartUpIsOver(e);
  const std::string from =
      e.scale_first ? InWords(*e.scale_first) : "its start";
  const std::string to = e.scale_now ? InWords(*e.scale_now) : "lower ones";
  match->Say(
      over ? fmt::format("Start-up calibration: the scaler went from {} to {} "
                         "until step {}; gradients have fitted since.",
                         from, to, e.first_good_step)
           : fmt::format("Start-up calibration: the scale fell from {} to {}, "
                         "and no step was good yet.",
                         from, to));
  match->Support(
      EvidenceGrade::kEstablished,
      fmt::format(
          "{} of {} overflows came before the first good step, and each move "
          "of the scale is the scaler's own.",
          over ? StartUpOverflows(e) : static_cast<int64_t>(e.overflows),
          e.overflows));
}

}  // namespace nanwatch
