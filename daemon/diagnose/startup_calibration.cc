// Start-up calibration: a dynamic scaler begins high and falls until the
// gradients fit. Harmless, and over after the grace of the scaler.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/consequences.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// Windows of rules that still see the start after it is over.
constexpr int64_t kRemembered = 1000;

// Bad then and clean since; or, while it lasts, a gradient.
bool OpsFit(const Case& c, bool* forward) {
  const RunEvidence& e = c.evidence;
  for (const OpEvidence& op : e.ops) {
    if (IsHarmless(c, op)) continue;
    if (IsForward(op)) {
      if (op.nan > 0) return false;
      *forward = true;
    }
    if (StartUpIsOver(e) && op.last_bad_step > e.last_overflow_step)
      return false;
  }
  return true;
}

// It is found of an op that turned bad when the search was over.
bool CameLater(const Case& c, RuleId rule) {
  return std::any_of(
      c.findings.begin(), c.findings.end(), [&](const Finding& finding) {
        return finding.rule == rule && !finding.subject.op.empty() &&
               finding.opened_step > c.evidence.last_overflow_step;
      });
}

}  // namespace

std::optional<CauseVerdict> StartupCalibration(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (!e.scaler_dynamic || e.overflows == 0 || e.loss_nonfinite > 0 ||
      e.impossible_transitions > 0 || IsStuck(c)) {
    return std::nullopt;
  }
  const bool over = StartUpIsOver(e);
  if (!over && !(e.in_grace && e.first_good_step < 0)) return std::nullopt;
  if (over && e.last_step - e.first_good_step > kRemembered) {
    return std::nullopt;
  }
  bool forward = false;
  if (!OpsFit(c, &forward)) return std::nullopt;

  CauseVerdict verdict;
  verdict.cause = Cause::kStartupCalibration;
  // A forward op that overflows is not the scale's doing, unless it stops with
  // the falling scale. The benefit of the doubt lasts as long as the grace.
  verdict.grade = forward && !over ? EvidenceGrade::kSupported
                                   : EvidenceGrade::kEstablished;
  verdict.ceiling = Severity::kInfo;
  verdict.rules = {
      RuleId::kScaleCollapse,        RuleId::kOverflowStreak,
      RuleId::kOverflowRate,         RuleId::kOverflowNotScaleDependent,
      RuleId::kOpOverflowOrigin,     RuleId::kOpOverflowPropagated,
      RuleId::kPersistentOpOverflow, RuleId::kOpSaturation,
      RuleId::kOpInternalOverflow,   RuleId::kNearOverflow};
  for (const RuleId rule : RuleSet(verdict.rules)) {
    if (over && CameLater(c, rule)) verdict.rules.Remove(rule);
  }
  ExplainBadSince(c, 0, &verdict);
  verdict.step = e.first_overflow_step;
  const std::string from =
      e.scale_first ? InWords(*e.scale_first) : "its start";
  const std::string to = e.scale_now ? InWords(*e.scale_now) : "lower ones";
  verdict.sentence =
      over ? fmt::format(
                 "Start-up calibration: the scaler went from {} to {} "
                 "until step {}, and the gradients fit since.",
                 from, to, e.first_good_step)
           : fmt::format(
                 "Start-up calibration: the scaler falls from {}, is "
                 "at {} now, and no step was good yet.",
                 from, to);
  verdict.evidence.push_back(
      {EvidenceGrade::kEstablished,
       fmt::format(
           "{} of {} overflows came before the first good step, and "
           "each move of the scale is the scaler's own.",
           over ? StartUpOverflows(e) : static_cast<int64_t>(e.overflows),
           e.overflows)});
  return verdict;
}

}  // namespace nanwatch
