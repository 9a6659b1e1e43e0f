// Ordinary fp16 range overflow: gradients times scale leave the range, the
// scaler steps down, and they fit again. The scaler's job.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "diagnose/causes.h"
#include "diagnose/consequences.h"
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

constexpr RuleId kFloor = RuleId::kScaleAtFloor;
constexpr RuleId kBelowOne = RuleId::kScaleBelowOne;
constexpr RuleId kCollapse = RuleId::kScaleCollapse;
constexpr RuleId kStreak = RuleId::kOverflowStreak;
constexpr RuleId kRate = RuleId::kOverflowRate;
constexpr RuleId kNotScaleDependent = RuleId::kOverflowNotScaleDependent;
constexpr RuleId kReset = RuleId::kScaleDiscontinuity;

bool Found(const Case& c, RuleId rule) {
  return std::any_of(c.findings.begin(), c.findings.end(),
                     [&](const Finding& f) { return f.rule == rule; });
}

// More than a scaler's probing.
bool FoundBurst(const Case& c) {
  return Found(c, kCollapse) || Found(c, kStreak) || Found(c, kRate);
}

RuleSet RulesOf(const Case& c) {
  RuleSet rules = {RuleId::kScaleCollapse,        RuleId::kOverflowStreak,
                   RuleId::kOverflowRate,         RuleId::kOpOverflowOrigin,
                   RuleId::kOpOverflowPropagated, RuleId::kPersistentOpOverflow,
                   RuleId::kOpSaturation,         RuleId::kOpInternalOverflow,
                   RuleId::kNearOverflow};
  // It may end at the floor, where they fit.
  if (IsAtTheFloor(c.evidence) && FoundBurst(c)) {
    rules |= {kFloor, kBelowOne};
  }
  // Fewer halvings would not have done.
  if (HasHelped(c.evidence)) rules.Add(kNotScaleDependent);
  rules -= ConsequencesOfLoss(c);
  rules -= AfterTheLoss(c);
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
  if (!e.scaler_dynamic && !IsUnseen(c)) return FixedScaleTooHigh(c);
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
  ExplainUnlisted(c, 0, &verdict);
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
    for (const RuleId rule : {kFloor, kBelowOne, kCollapse, kStreak, kRate}) {
      if (verdict.rules.has(rule)) verdict.uncapped.Add(rule);
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
