// A scaler that is misused: its scale moves as it never could by itself, cannot
// settle, stands or runs away, is no number to scale with; what must follow its
// skips does not; or gradients are clipped or unscaled at the wrong place.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "diagnose/causes.h"
#include "diagnose/first_found.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kUnrepresentable = RuleId::kScaleUnrepresentable;
constexpr RuleId kImpossibleMove = RuleId::kScaleDiscontinuity;
constexpr RuleId kClipped =
    RuleId::kClippedBeforeUnscaling;               // before they were unscaled
constexpr RuleId kTwice = RuleId::kUnscaledTwice;  // unscaled

// Halving and doubling lead to no such number: something else wrote it.
CauseVerdict NoScale(const Case& c, const Finding& finding) {
  CauseVerdict verdict;
  verdict.cause = Cause::kScalerMisuse;
  // The others measure from a scale that is none.
  verdict.rules = {RuleId::kScaleAtFloor,
                   RuleId::kScaleBelowOne,
                   kUnrepresentable,
                   RuleId::kScaleCollapse,
                   RuleId::kOverflowStreak,
                   RuleId::kOverflowRate,
                   RuleId::kNeverCalibrated,
                   RuleId::kScaleLimitCycle,
                   RuleId::kScaleStuck,
                   RuleId::kScaleRunaway,
                   RuleId::kScaleDiscontinuity,
                   RuleId::kLrSkipDesync};
  verdict.origin = finding.subject;
  verdict.step = finding.opened_step;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.sentence = fmt::format(
      "The loss scale is {} since step {}, which no scaler makes of a positive "
      "one: something else sets it, or another number is reported in its "
      "place.",
      InWords(*c.evidence.scale_now), finding.opened_step);
  verdict.actions.push_back(
      {"",
       "Look for what assigns the loss scale beside its scaler, and which "
       "number is reported as loss_scale."});
  return verdict;
}

// Of an impossible move: that there is none, though the scaler should move.
bool StandsStill(const Finding& moved) {
  const std::optional<double> before = NumberOf(moved, "scale_before");
  return before && before == NumberOf(moved, "scale");
}

// Gradients overflow at every attempt, since the scale that they have is never
// lowered. Above 1 alone: there a lower one might help.
bool ExplainsOverflows(const Case& c, const Finding& moved) {
  const RunEvidence& e = c.evidence;
  const auto is_forward = [&](const OpEvidence& op) {
    return IsForward(op) && !IsHarmless(c, op);
  };
  return StandsStill(moved) && e.scale_now && *e.scale_now > 1 &&
         e.scale_min == e.scale_max && e.loss_nonfinite == 0 &&
         std::none_of(e.ops.begin(), e.ops.end(), is_forward);
}

}  // namespace

std::optional<CauseVerdict> ScalerMisuse(const Case& c) {
  const RunEvidence& e = c.evidence;
  static constexpr RuleSet kRules = {RuleId::kScaleLimitCycle,
                                     RuleId::kScaleStuck,
                                     RuleId::kScaleRunaway,
                                     RuleId::kScaleDiscontinuity,
                                     RuleId::kLrSkipDesync,
                                     kClipped,
                                     kTwice};
  const auto of = [&c](RuleId rule) {
    return FirstFound(c.findings,
                      [rule](const Finding& f) { return f.rule == rule; });
  };
  const Finding* unusable = of(kUnrepresentable);
  if (unusable != nullptr && IsNoScale(e)) return NoScale(c, *unusable);
  const Finding* moved = of(kImpossibleMove);
  const Finding* first = moved;  // it proves most
  if (first == nullptr) {
    first = FirstFound(c.findings, [](const Finding& finding) {
      return kRules.has(finding.rule);
    });
  }
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kScalerMisuse;
  verdict.rules = kRules;
  if (moved != nullptr && ExplainsOverflows(c, *moved)) {
    for (const RuleId rule :
         {RuleId::kOverflowStreak, RuleId::kOverflowRate,
          RuleId::kNeverCalibrated, RuleId::kOpOverflowOrigin,
          RuleId::kOpOverflowPropagated, RuleId::kPersistentOpOverflow,
          RuleId::kOpSaturation, RuleId::kOpInternalOverflow,
          RuleId::kNearOverflow}) {
      verdict.rules.Add(rule);
    }
  }
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  const bool impossible = moved != nullptr && e.impossible_transitions > 0 &&
                          !e.scaler.empty() && !e.scaler_recognised;
  const bool measured = first->rule == kClipped || first->rule == kTwice;
  verdict.grade = impossible || measured ? EvidenceGrade::kEstablished
                                         : EvidenceGrade::kSupported;
  if (measured) {
    verdict.sentence = first->sentence;
    verdict.actions.push_back(
        {"", first->rule == kClipped
                 ? "Unscale the gradients before they are clipped (PyTorch: "
                   "scaler.unscale_(optimizer), then clip_grad_norm_)."
                 : "Let the scaler alone divide the gradients by the loss "
                   "scale: what steps the optimizer does it, unless unscale_ "
                   "did before."});
    return verdict;
  }
  verdict.sentence =
      impossible
          ? fmt::format(
                "The loss scale made {} that the declared scaler, {}, cannot "
                "make, first at step {}: {}",
                CountOf(e.impossible_transitions, "move"), e.scaler,
                first->opened_step, first->sentence)
          : "The scaler is not used as it is meant to be: " + first->sentence;
  return verdict;
}

}  // namespace nanwatch
