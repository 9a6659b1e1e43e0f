// Ordinary fp16 range overflow: gradients times scale leave the range, the
// scaler steps down, and they fit again. The scaler's job.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "diagnose/causes.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// Few overflows: what the scaler is there for. Those of the descent to the
// first good step are start-up and do not count: all attempts before it
// overflowed.
bool FewOverflows(const RunEvidence& e) {
  constexpr int64_t kFewOf50 = 5;  // rule 5 speaks of more in a row
  if (e.first_good_step < 0) return false;
  const int64_t since = e.last_step - e.first_good_step + 1;
  const int64_t startup =
      std::max<int64_t>(0, static_cast<int64_t>(e.attempts_last_50) - since);
  return static_cast<int64_t>(e.overflows_last_50) - startup <= kFewOf50;
}

// The op stopped being bad when the scale was lower. A gradient that is bad
// just now, after few overflows, waits for the scaler's answer: some answer
// only the second overflow.
bool WentWithTheScale(const OpEvidence& op, const RunEvidence& e) {
  if (op.clean_statuses > 0 && !IsBadNow(op, e)) return true;
  if (!IsForward(op) && op.nan == 0 && FewOverflows(e)) return true;
  return op.clean_statuses > 0 && op.scale_min && e.scale_now &&
         *e.scale_now <= *op.scale_min;
}

// Bad only while a NaN went through the forward pass: that one's doing.
bool CameWithNan(const Case& c, const OpEvidence& op) {
  return std::any_of(c.evidence.ops.begin(), c.evidence.ops.end(),
                     [&](const OpEvidence& other) {
                       return IsForward(other) && other.nan > 0 &&
                              !IsHarmless(c, other) &&
                              op.first_bad_step >= other.first_bad_step &&
                              op.last_bad_step <= other.last_bad_step;
                     });
}

constexpr int kFloor = 1;
constexpr int kBelowOne = 2;
constexpr int kCollapse = 4;
constexpr int kStreak = 5;
constexpr int kRate = 6;
constexpr int kNotScaleDependent = 8;
constexpr int kReset = 14;

bool Found(const Case& c, int rule) {
  return std::any_of(c.findings.begin(), c.findings.end(),
                     [&](const Finding& f) { return f.rule == rule; });
}

// More than a scaler's probing.
bool FoundBurst(const Case& c) {
  return Found(c, kCollapse) || Found(c, kStreak) || Found(c, kRate);
}

std::vector<int> RulesOf(const Case& c) {
  std::vector<int> rules = {4, 5, 6, 18, 19, 20, 21, 22, 25};
  // It may end at the floor, where they fit.
  if (IsAtTheFloor(c.evidence) && FoundBurst(c)) {
    rules.insert(rules.begin(), {kFloor, kBelowOne});
  }
  // Fewer halvings would not have done.
  if (HasHelped(c.evidence)) rules.push_back(kNotScaleDependent);
  for (const int rule : ConsequencesOfLoss(c)) std::erase(rules, rule);
  for (const int rule : AfterTheLoss(c)) std::erase(rules, rule);
  return rules;
}

// What took the scale to its floor, and what goes on there, is one trouble:
// that of the collapse. So is a scale that stays below 1.
bool GoesOnAtTheFloor(const Case& c) {
  if (c.evidence.scale_now.value_or(1) < 1 && Found(c, kBelowOne)) return true;
  return IsAtTheFloor(c.evidence) &&
         std::any_of(
             c.findings.begin(), c.findings.end(), [](const Finding& finding) {
               return finding.severity == Severity::kCritical &&
                      (finding.rule == kFloor || finding.rule == kBelowOne);
             });
}

// Few are the scaler's job; many are gradients that have grown.
std::string Sentence(const Case& c, bool ordinary) {
  const RunEvidence& e = c.evidence;
  const std::string scale =
      e.scale_now ? InWords(*e.scale_now) : "not reported";
  const std::string_view steps = StepsInWords(e);
  if (e.overflows == 0) {
    for (const Finding& finding : c.findings) {
      if (finding.rule == kCollapse) {
        return "Gradients outgrew the loss scale, though no overflow is "
               "reported: " +
               finding.sentence;
      }
    }
  }
  if (ordinary) {
    const int64_t start = ToldAtStartUp(e);
    return fmt::format(
        "Ordinary range overflow: {} of {} {} overflowed{} and the scaler "
        "answered, {} of the last {}; the scale is {}.",
        e.overflows, e.attempts, steps,
        start > 0
            ? fmt::format(" ({} of them before the first good one)", start)
            : "",
        e.overflows_last_50, e.attempts_last_50, scale);
  }
  // It is over, whatever windows still remember of it.
  if (e.overflows_last_50 == 0) {
    return fmt::format(
        "Gradients outgrew the loss scale: {} of {} {} overflowed, none of "
        "the last {}; the scale is {}.",
        e.overflows, e.attempts, steps, e.attempts_last_50, scale);
  }
  if (e.first_good_step >= 0 && FewOverflows(e)) {
    return fmt::format(
        "Gradients outgrew the loss scale: {} of {} {} overflowed, {} of "
        "them among the last {}; the scale is {}.",
        e.overflows, e.attempts, steps, e.overflows_last_50, e.attempts_last_50,
        scale);
  }
  return fmt::format(
      "Gradients outgrow the loss scale: {} of the last {} {} overflowed "
      "({} of {} in all), oftener than a scaler's probing; the scale is {}.",
      e.overflows_last_50, e.attempts_last_50, steps, e.overflows, e.attempts,
      scale);
}

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
  const bool over = e.overflows_last_50 == 0;
  const bool applied =
      (over ? e.applied_overflows : e.applied_overflows_last_50) > 0;
  const std::string_view then = applied ? "and were applied all the same"
                                        : "and their updates were skipped";
  if (over) {
    return fmt::format(
        "The fixed loss scale {} was too high for these gradients: {} of {} {} "
        "overflowed, {}, none of the last {}.",
        InWords(*e.scale_now), e.overflows, e.attempts, StepsInWords(e), then,
        e.attempts_last_50);
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

// Gradients leave the range, and nothing answers: the scale is fixed. They may
// have become smaller since.
std::optional<CauseVerdict> FixedTooHigh(const Case& c) {
  const RunEvidence& e = c.evidence;
  const bool often = AreOften(e);
  const bool finite = e.grad_norm_finite_while_overflow > 0;
  if (!e.scale_now || *e.scale_now <= 1 || e.overflows == 0 ||
      (!often && !e.ops_collected) || e.loss_nonfinite > 0 || finite) {
    return std::nullopt;
  }
  CauseVerdict verdict;
  std::vector<const OpEvidence*> ops;
  for (const OpEvidence& op : e.ops) {
    if (IsHarmless(c, op)) continue;
    if (IsForward(op) && MakesThem(op, e)) return std::nullopt;
    if (IsForward(op)) continue;
    ops.push_back(&op);
    verdict.ops.push_back(op.op.name);
  }
  if (e.ops_collected && !AreOfTheRange(ops, e)) {
    return std::nullopt;
  }
  verdict.cause = Cause::kRangeOverflow;
  constexpr uint64_t kSeveral = 3;  // one may be anything
  const bool seen = e.ops_collected && e.overflows >= kSeveral;
  verdict.grade = seen ? EvidenceGrade::kSupported : EvidenceGrade::kHypothesis;
  verdict.rules = {5, 6, 7, 18, 19, 20, 21, 22, 25, 28};
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
  if (!verdict.ops.empty()) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format(
             "No op of the forward pass is bad; {} of the backward "
             "pass, {} first.",
             CountOf(verdict.ops.size(), "op"),
             verdict.origin.op.empty() ? verdict.ops[0] : verdict.origin.op)});
  }
  return verdict;
}

// All of them, but for the search of the start.
bool AreOfOutliers(const RunEvidence& e) {
  const auto start = static_cast<uint64_t>(StartUpOverflows(e));
  return std::any_of(
      e.outliers.begin(), e.outliers.end(), [&](const OutlierBatches& of) {
        return of.overflows > 0 && of.overflows >= e.overflows - start;
      });
}

// Nothing speaks for another reason of the overflows than the scale's height.
// `ops_tell`: ops do that became clean with it.
bool IsOfTheScale(const RunEvidence& e, bool ops_tell) {
  // A scale at which gradients fit and many of them vanish was not lowered by
  // ordinary ones.
  constexpr double kUnderflow = 0.10;  // rule 31
  const bool vanish = e.underflow_fraction.value_or(0) > kUnderflow;
  // Where losses were not finite from the first overflow on, and no op tells
  // more, the scale may have had nothing to do with it.
  const bool nan_loss = e.loss_nonfinite > 0 && !ops_tell &&
                        e.first_overflow_step >= e.first_nonfinite_loss_step;
  return !vanish && !nan_loss;
}

}  // namespace

std::optional<CauseVerdict> RangeOverflow(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (AreOfOutliers(e) && !FoundBurst(c)) return std::nullopt;
  if (!e.scaler_dynamic && !IsUnseen(c)) return FixedTooHigh(c);
  if (e.good_steps == 0 || IsBeyondProbing(c)) return std::nullopt;
  if (GoesOnAtTheFloor(c)) return std::nullopt;
  // A log that tells a step in ten may show the fall and no overflow.
  const bool fell = Found(c, kCollapse) && !Found(c, kReset);
  if (e.overflows == 0 && !fell) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kRangeOverflow;
  bool all_went = true;
  for (const OpEvidence& op : e.ops) {
    if (IsHarmless(c, op) || CameWithNan(c, op)) continue;
    if (BadAtEveryScale(op) && !(IsGradient(op) && HasHelped(e))) {
      return std::nullopt;
    }
    if (IsBadNow(op, e) && OverflowsUnscaled(op, e)) return std::nullopt;
    all_went = all_went && WentWithTheScale(op, e);
    verdict.ops.push_back(op.op.name);
  }
  if (e.ops_collected && verdict.ops.empty()) return std::nullopt;
  const bool few = e.overflows > 0 && FewOverflows(e);
  verdict.grade = few && all_went && IsOfTheScale(e, !verdict.ops.empty())
                      ? EvidenceGrade::kEstablished
                      : EvidenceGrade::kSupported;
  verdict.rules = RulesOf(c);
  // The search of the start is none, and over; nor is what a loss that jumped
  // made overflow.
  const bool told = StartUpIsOver(e) || !ConsequencesOfLoss(c).empty();
  if (told && std::none_of(c.findings.begin(), c.findings.end(),
                           [&](const Finding& finding) {
                             return Explains(verdict, finding);
                           })) {
    return std::nullopt;
  }
  if (verdict.grade == EvidenceGrade::kEstablished) {
    verdict.ceiling = Severity::kInfo;
    // That the scale falls too far or too often stays what it is.
    for (const int rule : {kFloor, kBelowOne, kCollapse, kStreak, kRate}) {
      if (std::count(verdict.rules.begin(), verdict.rules.end(), rule) > 0) {
        verdict.uncapped.push_back(rule);
      }
    }
  }
  verdict.rule = HeadOfScale(c, verdict.rules);
  verdict.step = std::max<int64_t>(e.first_overflow_step, 0);
  const bool ordinary =
      verdict.grade == EvidenceGrade::kEstablished && !FoundBurst(c);
  verdict.sentence = Sentence(c, ordinary);
  if (!ordinary) {
    for (const Finding& finding : c.findings) {
      const bool burst = finding.rule == kCollapse || finding.rule == kStreak;
      if (burst && Explains(verdict, finding))
        verdict.step = finding.opened_step;
    }
  }
  if (!verdict.ops.empty() && all_went) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{} bad and became clean as the scale fell, {} first.",
                     verdict.ops.size() == 1
                         ? "1 op was"
                         : CountOf(verdict.ops.size(), "op") + " were",
                     verdict.ops[0])});
  }
  return verdict;
}

}  // namespace nanwatch
