// An op overflows whatever the scale, and it is not known to be harmless; or it
// makes NaN in the backward pass, whatever the scale.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagnose/causes.h"
#include "diagnose/consequences.h"
#include "diagnose/nan_from_backward.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kNotScaleDependent = RuleId::kOverflowNotScaleDependent;

// The first of rule 8 whose op is not known to do no harm.
const Finding* FirstNotHarmless(const Case& c) {
  const auto harmless = [&](const Finding& finding) {
    return std::any_of(c.evidence.ops.begin(), c.evidence.ops.end(),
                       [&](const OpEvidence& op) {
                         return IsOf(op, finding.subject) && IsHarmless(c, op);
                       });
  };
  for (const Finding& finding : c.findings) {
    if (finding.rule == kNotScaleDependent && !harmless(finding)) {
      return &finding;
    }
  }
  return nullptr;
}

// Rule 8 speaks of a NaN in a forward output as well, whatever the scale did.
bool IsOfNan(const Finding& finding) {
  return NumberOf(finding, "nan").value_or(0) > 0;
}

EvidenceGrade GradeOf(const Case& c, const OpEvidence& op) {
  if (BadAtEveryScale(op)) {
    // Gradients that grew may fit at a scale that is lower yet.
    return IsGradient(op) && op.inf > 0 ? EvidenceGrade::kSupported
                                        : EvidenceGrade::kEstablished;
  }
  const bool unscaled = !c.evidence.scaler_dynamic && !c.evidence.scale_now;
  return BadAtEveryAttempt(op) || unscaled ? EvidenceGrade::kSupported
                                           : EvidenceGrade::kHypothesis;
}

// Of gradients that are bad for long the one that a module made of a finite
// one: those of parameters, and of all before it in the model, are bad after
// it. It may be seen later, since modules are looked at in turn.
const OpEvidence* Maker(const Case& c, const OpEvidence* origin) {
  if (origin == nullptr || IsForward(*origin) || origin->first_inputs_clean) {
    return origin;
  }
  for (const OpEvidence& op : c.evidence.ops) {
    if (op.slot == Slot::kGradInput && op.first_inputs_clean && op.nan > 0 &&
        op.first_bad_step >= origin->first_bad_step &&
        op.first_bad_step <= origin->last_bad_step) {
      return &op;
    }
  }
  return origin;
}

std::string SentenceOfMaker(const OpEvidence& maker, const OpEvidence& first) {
  return fmt::format(
      "{} makes NaN in the backward pass: the gradient that reaches it is "
      "finite, what it makes of it holds up to {} NaN. The gradient of {} is "
      "not finite {}{}.",
      InWords(maker.op), maker.nan, first.op.name, WhenBad(first),
      BadAtEveryAttempt(first) ? ", so lowering the scale cannot help" : "");
}

// Infinities are what too high a scale makes, and what a NaN is made of then.
// Those before `step` were of another trouble, the search for a scale perhaps.
bool MakesNanAlone(const Case& c, int64_t step) {
  bool nan = false;
  for (const OpEvidence& op : c.evidence.ops) {
    if (!IsGradient(op)) continue;
    if (op.inf > 0 && op.last_beyond_step >= step) return false;
    nan = nan || op.nan > 0;
  }
  return nan;
}

std::string SentenceOfNan(const OpEvidence& op) {
  return fmt::format(
      "NaN is born in the backward pass, whatever the scale: the gradient of "
      "{} is not finite {}, and no gradient holds an infinity then, which a "
      "scale that is too high makes first.",
      op.op.name, WhenBad(op));
}

std::string SentenceOf(const OpEvidence& op) {
  const char* const therefore =
      BadAtEveryAttempt(op) ? ", so lowering the scale cannot help"
                            : " in the forward pass, which a loss scale does "
                              "not reach";
  return fmt::format("{} overflows {}{}; up to {} of its elements are bad.",
                     InWords(op.op), WhenBad(op), therefore,
                     op.bad_elements_max);
}

}  // namespace

std::optional<CauseVerdict> ScaleIndependentOp(const Case& c) {
  // While the scaler calibrates itself everything looks like this.
  if (c.evidence.in_grace && c.evidence.first_good_step < 0) {
    return std::nullopt;
  }
  // What has grown out of the range, and what is NaN in the backward pass where
  // nothing is scaled, is told as that.
  if (GrownLoss(c) != nullptr || FindBackwardNan(c)) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kScaleIndependentOp;
  verdict.rules = {
      RuleId::kScaleAtFloor,         RuleId::kScaleBelowOne,
      RuleId::kScaleUnrepresentable, RuleId::kScaleCollapse,
      RuleId::kOverflowStreak,       RuleId::kOverflowRate,
      RuleId::kNeverCalibrated,      RuleId::kOverflowNotScaleDependent,
      RuleId::kOpOverflowOrigin,     RuleId::kOpOverflowPropagated,
      RuleId::kPersistentOpOverflow, RuleId::kOpSaturation,
      RuleId::kOpInternalOverflow};
  const OpEvidence* origin = nullptr;
  const bool has_nan = NanFromForward(c).has_value();
  for (const OpEvidence& op : c.evidence.ops) {
    if (IsHarmless(c, op) || !IsBadNow(op, c.evidence)) continue;
    if (IsGradient(op) && HasHelped(c.evidence)) continue;
    // At a fixed scale nothing is known of others, but the forward pass does
    // not feel the scale at all.
    const bool fixed = IsForward(op) && BadAtEveryAttempt(op);
    const bool early = !has_nan && OverflowsUnscaled(op, c.evidence);
    if (!BadAtEveryScale(op) && !fixed && !early) continue;
    if (IsInput(op)) continue;
    origin = &op;
    break;
  }
  if (origin != nullptr) {
    ExplainBadFor(c, *origin, &verdict);
    const OpEvidence* maker = Maker(c, origin);
    const bool of_nan =
        IsGradient(*origin) && MakesNanAlone(c, origin->first_bad_step);
    if (maker != origin || of_nan) {
      verdict.cause = Cause::kNanFromBackward;
      verdict.actions.push_back(LookForInfiniteSlope());
    } else {
      verdict.rules.Add(
          RuleId::kNearOverflow);  // saturated at the limit: the same trouble
    }
    verdict.origin = OriginOf(*maker);
    verdict.step = origin->first_bad_step;
    verdict.grade = GradeOf(c, *origin);
    verdict.sentence = maker != origin ? SentenceOfMaker(*maker, *origin)
                       : of_nan        ? SentenceOfNan(*origin)
                                       : SentenceOf(*origin);
    return verdict;
  }
  const Finding* finding = FirstNotHarmless(c);
  if (finding == nullptr) return std::nullopt;
  const bool of_nan = IsOfNan(*finding);
  // Where the NaN began is told there.
  if (of_nan ? has_nan : HasHelped(c.evidence)) return std::nullopt;
  // Of all but those that do no harm.
  ExplainBadSince(c, 0, &verdict);
  verdict.ops.push_back(finding->subject.op);
  verdict.grade = EvidenceGrade::kSupported;
  verdict.origin = finding->subject;
  verdict.step = finding->opened_step;
  verdict.sentence = of_nan
                         ? "An op makes NaN, which no loss scale changes. "
                         : "The overflow goes on while the scale falls: an op "
                           "overflows whatever the scale. ";
  verdict.sentence += finding->sentence;
  return verdict;
}

}  // namespace nanwatch
