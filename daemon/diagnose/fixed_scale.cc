// A fixed loss scale that is too high: gradients leave the range, and nothing
// answers. They may have become smaller since.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/cause_form.h"
#include "diagnose/consequences.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

// True without an overflow for as long as four lie apart, and for 50 steps.
bool IsOver(const RunEvidence& e) {
  const int64_t since = e.last_step - e.last_overflow_step;
  const int64_t between = e.last_overflow_step - e.first_overflow_step;
  return e.overflows_last_50 == 0 && since >= 50 &&
         static_cast<int64_t>(e.overflows - 1) * since >= 4 * between;
}

// True when they are often among the last 50 updates, as the rule on overflows
// in a row has it, or among all since the first.
bool AreOften(const Facts& f) {
  constexpr int64_t kOneOf = 20;  // steps; ours
  const RunEvidence& e = f.evidence;
  const auto often = static_cast<uint64_t>(f.at.streak);
  const int64_t steps = e.last_step - e.first_overflow_step;
  return e.overflows_last_50 >= often ||
         (e.overflows >= often && !IsOver(e) &&
          kOneOf * static_cast<int64_t>(e.overflows) >= steps);
}

// True when the op was bad at most overflows, or is still: it is what makes
// them.
bool MakesThem(const OpEvidence& op, const RunEvidence& e) {
  return IsBadNow(op, e) || 2 * op.bad_updates >= e.overflows;
}

// True when all left the range: what does is infinite, or makes NaN of what is.
// Each was bad while something left it, and something does so still, if
// anything was finite since. (Not all ops are looked at each time.)
bool AreOfTheRange(const std::vector<const OpEvidence*>& ops,
                   const RunEvidence& e) {
  constexpr int64_t kStill = 50;  // steps; ours
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

// Finds ops of the backward pass, but for harmless ones. False when one of the
// forward pass makes the overflows.
bool Gradients(const Facts& f, std::vector<const OpEvidence*>* ops) {
  for (const OpEvidence& op : f.evidence.ops) {
    if (f.IsHarmless(op)) continue;
    if (!IsForward(op)) {
      ops->push_back(&op);
    } else if (MakesThem(op, f.evidence)) {
      return false;
    }
  }
  return true;
}

std::string SentenceOf(const RunEvidence& e) {
  const bool lately = e.overflows_last_50 > 0;
  const bool applied =
      (lately ? e.applied_overflows_last_50 : e.applied_overflows) > 0;
  const std::string_view then = applied ? "and were applied all the same"
                                        : "and their updates were skipped";
  if (!lately) {
    return fmt::format(
        "The fixed loss scale {} {} too high for these gradients: {} of {} {}, "
        "{}, none of the last {}.",
        InWords(*e.scale_now), IsOver(e) ? "was" : "is", e.overflows, e.updates,
        StepsOverflowed(e), then, e.updates_last_50);
  }
  return fmt::format(
      "The fixed loss scale {} is too high for these gradients: {} of the last "
      "{} {}, {}, and nothing lowers it.",
      InWords(*e.scale_now), e.overflows_last_50, e.updates_last_50,
      StepsOverflowed(e), then);
}

}  // namespace

bool WhenFixedScaleTooHigh(const Facts& f, const Matches&, Match* match) {
  const RunEvidence& e = f.evidence;
  if (e.scaler_dynamic || f.unseen || f.of_outliers) return false;
  const bool often = AreOften(f);
  const bool many = f.found.has(kOverflowRate);
  const bool finite = e.grad_norm_finite_while_overflow > 0;
  if (!e.scale_now || *e.scale_now <= 1 || e.overflows == 0 ||
      (!often && !many && !e.ops_collected) || e.loss_nonfinite > 0 || finite) {
    return false;
  }
  std::vector<const OpEvidence*> ops;
  if (!Gradients(f, &ops)) return false;
  if (e.ops_collected && !AreOfTheRange(ops, e)) return false;
  CauseVerdict& verdict = match->verdict;
  for (const OpEvidence* op : ops) verdict.ops.push_back(op->op.name);
  ExplainUnlisted(f, 0, &verdict);
  constexpr uint64_t kSeveral = 3;  // one may be anything; ours
  const bool seen = e.ops_collected && e.overflows >= kSeveral;
  verdict.grade = seen ? EvidenceGrade::kSupported : EvidenceGrade::kHypothesis;
  // Few updates that are left out do no harm.
  const bool over = IsOver(e);
  if (!often && e.applied_overflows == 0 && (seen || over)) {
    verdict.ceiling = Severity::kInfo;
    if (!over) verdict.uncapped = {kOverflowRate};  // few of 50, many of 1000
  }
  verdict.step = std::max<int64_t>(e.first_overflow_step, 0);
  if (const OpEvidence* first = FirstGradient(e, verdict.step)) {
    verdict.origin = OriginOf(*first);
  }
  return true;
}

void SayFixedScaleTooHigh(const Facts& f, Match* match) {
  const CauseVerdict& verdict = match->verdict;
  match->Say(SentenceOf(f.evidence));
  if (verdict.ops.empty()) return;
  const bool forward = std::any_of(
      f.evidence.ops.begin(), f.evidence.ops.end(),
      [&](const OpEvidence& op) { return IsForward(op) && !f.IsHarmless(op); });
  match->Support(
      EvidenceGrade::kEstablished,
      fmt::format(
          "{}; {} of the backward pass, {} first.",
          forward ? "What the forward pass has makes few of them"
                  : "No op of the forward pass is bad",
          CountOf(verdict.ops.size(), "op"),
          verdict.origin.op.empty() ? verdict.ops[0] : verdict.origin.op));
}

}  // namespace nanwatch
