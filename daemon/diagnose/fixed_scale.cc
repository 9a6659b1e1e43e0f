// A fixed loss scale that is too high: gradients leave the range, and nothing
// answers. They may have become smaller since.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/causes.h"
#include "diagnose/consequences.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kRate = RuleId::kOverflowRate;

// No overflow for as long as four lie apart, and for 50 steps.
bool IsOver(const RunEvidence& e) {
  const int64_t since = e.last_step - e.last_overflow_step;
  const int64_t between = e.last_overflow_step - e.first_overflow_step;
  return e.overflows_last_50 == 0 && since >= 50 &&
         static_cast<int64_t>(e.overflows - 1) * since >= 4 * between;
}

// Of the last 50, as rule 5 has it, or of all since the first.
bool AreOften(const RunEvidence& e) {
  constexpr uint64_t kOften = 5;
  constexpr int64_t kOneOf = 20;
  const int64_t steps = e.last_step - e.first_overflow_step;
  return e.overflows_last_50 >= kOften ||
         (e.overflows >= kOften && !IsOver(e) &&
          kOneOf * static_cast<int64_t>(e.overflows) >= steps);
}

// Bad at most overflows, or still: it is what makes them.
bool MakesThem(const OpEvidence& op, const RunEvidence& e) {
  return IsBadNow(op, e) || 2 * op.bad_attempts >= e.overflows;
}

std::string OfFixed(const RunEvidence& e) {
  const bool lately = e.overflows_last_50 > 0;
  const bool applied =
      (lately ? e.applied_overflows_last_50 : e.applied_overflows) > 0;
  const std::string_view then = applied ? "and were applied all the same"
                                        : "and their updates were skipped";
  if (!lately) {
    return fmt::format(
        "The fixed loss scale {} {} too high for these gradients: {} of {} {} "
        "overflowed, {}, none of the last {}.",
        InWords(*e.scale_now), IsOver(e) ? "was" : "is", e.overflows,
        e.attempts, StepsInWords(e), then, e.attempts_last_50);
  }
  return fmt::format(
      "The fixed loss scale {} is too high for these gradients: {} of the last "
      "{} {} overflowed, {}, and nothing lowers it.",
      InWords(*e.scale_now), e.overflows_last_50, e.attempts_last_50,
      StepsInWords(e), then);
}

// What leaves the range is infinite, or makes NaN of what is: each was bad
// while something left it, and something does so still, if anything was finite
// since. (Not all ops are looked at each time.)
bool AreOfTheRange(const std::vector<const OpEvidence*>& ops,
                   const RunEvidence& e) {
  constexpr int64_t kStill = 50;  // steps
  const bool still =
      std::any_of(ops.begin(), ops.end(), [&](const OpEvidence* op) {
        return op->last_beyond_step >= 0 &&
               (op->clean_statuses == 0 ||
                e.last_overflow_step - op->last_beyond_step <= kStill);
      });
  return still &&
         std::all_of(ops.begin(), ops.end(), [&](const OpEvidence* op) {
           return std::any_of(
               ops.begin(), ops.end(), [&](const OpEvidence* other) {
                 return other->last_beyond_step >= op->first_bad_step &&
                        other->first_bad_step <= op->last_bad_step;
               });
         });
}

}  // namespace

std::optional<CauseVerdict> FixedScaleTooHigh(const Case& c) {
  const RunEvidence& e = c.evidence;
  const bool often = AreOften(e);
  const bool many =
      std::any_of(c.findings.begin(), c.findings.end(),
                  [](const Finding& f) { return f.rule == kRate; });
  const bool finite = e.grad_norm_finite_while_overflow > 0;
  if (!e.scale_now || *e.scale_now <= 1 || e.overflows == 0 ||
      (!often && !many && !e.ops_collected) || e.loss_nonfinite > 0 || finite) {
    return std::nullopt;
  }
  CauseVerdict verdict;
  std::vector<const OpEvidence*> ops;
  bool forward = false;
  for (const OpEvidence& op : e.ops) {
    if (IsHarmless(c, op)) continue;
    if (IsForward(op)) {
      if (MakesThem(op, e)) return std::nullopt;
      forward = true;
      continue;
    }
    ops.push_back(&op);
    verdict.ops.push_back(op.op.name);
  }
  if (e.ops_collected && !AreOfTheRange(ops, e)) {
    return std::nullopt;
  }
  ExplainUnlisted(c, 0, &verdict);
  verdict.cause = Cause::kRangeOverflow;
  constexpr uint64_t kSeveral = 3;  // one may be anything
  const bool seen = e.ops_collected && e.overflows >= kSeveral;
  verdict.grade = seen ? EvidenceGrade::kSupported : EvidenceGrade::kHypothesis;
  verdict.rules = {RuleId::kOverflowStreak,       RuleId::kOverflowRate,
                   RuleId::kNeverCalibrated,      RuleId::kOpOverflowOrigin,
                   RuleId::kOpOverflowPropagated, RuleId::kPersistentOpOverflow,
                   RuleId::kOpSaturation,         RuleId::kOpInternalOverflow,
                   RuleId::kNearOverflow,         RuleId::kGnormExplosion};
  // Few updates that are left out do no harm.
  const bool over = IsOver(e);
  if (!often && e.applied_overflows == 0 && (seen || over)) {
    verdict.ceiling = Severity::kInfo;
    if (!over) verdict.uncapped = {kRate};  // few of 50 may be many of 1000
  }
  verdict.step = std::max<int64_t>(e.first_overflow_step, 0);
  if (const OpEvidence* first = FirstGradient(e, verdict.step)) {
    verdict.origin = OriginOf(*first);
  }
  verdict.sentence = OfFixed(e);
  if (!ops.empty()) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format(
             "{}; {} of the backward pass, {} first.",
             forward ? "What the forward pass has makes few of them"
                     : "No op of the forward pass is bad",
             CountOf(ops.size(), "op"),
             verdict.origin.op.empty() ? verdict.ops[0] : verdict.origin.op)});
  }
  return verdict;
}

}  // namespace nanwatch
