#include "diagnose/scale_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "diagnose/first_found.h"

namespace nanwatch {
namespace {

constexpr double kRounding = 1.005;  // of logs
constexpr uint64_t kStreak = 3;      // attempts; rule 1
// Attempts: 2^32, the highest that any program begins at, is 2^-8 then.
constexpr uint64_t kAllHalvings = 40;

}  // namespace

bool IsScaled(const Case& c) {
  const RunEvidence& e = c.evidence;
  const ScalingKind kind = c.run.scaler.kind;
  if (e.scale_now || e.scaler_dynamic) return true;
  if (kind != ScalingKind::kUnknown) return kind != ScalingKind::kNone;
  return HasFp16(c.run);
}

const Finding* GrownLoss(const Case& c) {
  return FirstFound(c.findings, [](const Finding& finding) {
    return finding.rule == RuleId::kLossNonfinite &&
           NumberOf(finding, "grown_from").has_value();
  });
}

bool IsNoScale(const RunEvidence& e) {
  return e.scale_now && !(*e.scale_now >= 0 && std::isfinite(*e.scale_now));
}

int64_t StartUpOverflows(const RunEvidence& e) {
  if (e.first_overflow_step < 0) return 0;
  return std::clamp<int64_t>(e.first_good_step - e.first_overflow_step, 0,
                             static_cast<int64_t>(e.overflows));
}

int64_t ToldAtStartUp(const RunEvidence& e) {
  const bool all = e.last_overflow_step < e.first_good_step;
  return e.steps_between && !all ? 0 : StartUpOverflows(e);
}

bool HasHelped(const RunEvidence& e) {
  return e.scaler_dynamic && e.scale_now && e.overflows > 0 &&
         e.overflow_streak == 0;
}

bool IsAtTheFloor(const RunEvidence& e) {
  return e.scale_now && !IsNoScale(e) &&
         *e.scale_now <= std::max(e.floor, 1.0) * kRounding;
}

bool IsUnseen(const Case& c) {
  const RunEvidence& e = c.evidence;
  return !e.scale_max && e.skipped > 0 && !e.scaler_dynamic &&
         !e.ops_collected && c.run.scaler.kind == ScalingKind::kUnknown;
}

bool IsStuck(const Case& c) {
  const RunEvidence& e = c.evidence;
  const bool mostly = 2 * e.overflows_last_50 > e.attempts_last_50;
  const bool at_the_floor = IsUnseen(c)
                                ? e.overflow_streak >= kAllHalvings
                                : e.scaler_dynamic && IsAtTheFloor(e) &&
                                      (e.overflow_streak >= kStreak || mostly);
  if (!at_the_floor || e.applied_overflows_last_50 > 0) return false;
  static constexpr RuleSet kRules = {
      RuleId::kScaleAtFloor, RuleId::kScaleBelowOne,
      RuleId::kScaleUnrepresentable, RuleId::kOverflowStreak,
      RuleId::kNeverCalibrated};
  return std::any_of(c.findings.begin(), c.findings.end(),
                     [](const Finding& finding) {
                       return finding.severity == Severity::kCritical &&
                              kRules.has(finding.rule);
                     });
}

bool IsBeyondProbing(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (!e.scale_now) return IsStuck(c);
  return IsNoScale(e) || *e.scale_now < kTinyScale ||
         (IsAtTheFloor(e) && e.overflow_streak >= kStreak);
}

bool IsOfEarlierLoss(const Case& c) {
  const RunEvidence& e = c.evidence;
  return e.earlier_cause == Cause::kDivergence && IsOfLoss(e.earlier_rule) &&
         !e.earlier.empty() && e.earlier_to < 0;
}

RuleSet ConsequencesOfLoss(const Case& c) {
  // Steps: a log tells a step in ten or twenty, and of the scale the last.
  constexpr int64_t kSame = 20;
  const Finding* loss =
      FirstFound(c.findings, [](const Finding& f) { return IsOfLoss(f.rule); });
  RuleSet rules;
  if (loss == nullptr && !IsOfEarlierLoss(c)) return rules;
  const int64_t since =
      loss != nullptr ? loss->opened_step : c.evidence.earlier_from;
  for (const RuleId rule :
       {RuleId::kScaleAtFloor, RuleId::kScaleBelowOne, RuleId::kScaleCollapse,
        RuleId::kOverflowStreak, RuleId::kOverflowRate}) {
    bool any = false;
    bool all = true;
    for (const Finding& finding : c.findings) {
      if (finding.rule != rule) continue;
      any = true;
      all = all && finding.opened_step + kSame >= since;
    }
    if (any && all) rules.Add(rule);
  }
  return rules;
}

RuleSet AfterTheLoss(const Case& c) {
  constexpr int64_t kSoon = 100;  // steps
  constexpr RuleId kZeros = RuleId::kUnderflowMeasured;
  int64_t loss = std::numeric_limits<int64_t>::max();
  int64_t gradients = loss;
  for (const Finding& finding : c.findings) {
    if (finding.severity <= Severity::kInfo) continue;
    const bool is_loss = IsOfLoss(finding.rule);
    const bool is_norm = finding.rule == RuleId::kGnormSpike ||
                         finding.rule == RuleId::kGnormExplosion;
    if (is_loss) loss = std::min(loss, finding.opened_step);
    if (is_loss || is_norm)
      gradients = std::min(gradients, finding.opened_step);
  }
  RuleSet rules;
  for (const RuleId rule :
       {RuleId::kOpOverflowOrigin, RuleId::kOpOverflowPropagated,
        RuleId::kPersistentOpOverflow, RuleId::kOpSaturation,
        RuleId::kOpInternalOverflow, RuleId::kNearOverflow, kZeros}) {
    const int64_t since = rule == kZeros ? gradients : loss;
    bool any = false;
    bool all = true;
    for (const Finding& finding : c.findings) {
      if (finding.rule != rule) continue;
      any = true;
      all = all && finding.opened_step > since &&
            finding.opened_step - since <= kSoon;
    }
    if (any && all) rules.Add(rule);
  }
  return rules;
}

RuleId HeadOfScale(const Case& c, const RuleSet& rules) {
  const Finding* head = FirstOfTheWorst(c.findings, [&](const Finding& f) {
    return f.family == Family::kScale && rules.has(f.rule);
  });
  return head == nullptr ? RuleId::kNone : head->rule;
}

bool StartUpIsOver(const RunEvidence& e) {
  // Gradients are noisy, so at the last scales of a search some steps fit and
  // some do not: three halvings more, of a scaler that forgives one overflow.
  constexpr int64_t kLate = 6;        // overflows, or a quarter of them
  constexpr int64_t kSettling = 300;  // attempts
  if (e.first_good_step < 0) return false;
  if (e.last_overflow_step < e.first_good_step) return true;
  const int64_t before = e.first_good_step - e.first_overflow_step;
  const int64_t late = static_cast<int64_t>(e.overflows) - before;
  return before > 0 && late < before && late <= std::max(kLate, before / 4) &&
         e.last_overflow_step - e.first_good_step <= kSettling;
}

}  // namespace nanwatch
