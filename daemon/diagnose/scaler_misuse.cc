// A scaler that is misused: its scale moves as it never could by itself, cannot
// settle, stands or runs away, is no number to scale with; what must follow its
// skips does not; or gradients are clipped or unscaled at the wrong place.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "diagnose/cause_form.h"
#include "diagnose/op_facts.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

constexpr RuleId kImpossibleMove = kScaleDiscontinuity;

// True for an impossible move that is none, though the scaler should move.
bool StandsStill(const Finding& moved) {
  const std::optional<double> before = NumberOf(moved, "scale_before");
  return before && before == NumberOf(moved, "scale");
}

// True when gradients overflow at every update, since the scale that they have
// is never lowered. Above 1 alone: there a lower one might help.
bool ExplainsOverflows(const Facts& f, const Finding& moved) {
  const RunEvidence& e = f.evidence;
  return StandsStill(moved) && e.scale_now && *e.scale_now > 1 &&
         e.scale_min == e.scale_max && e.loss_nonfinite == 0 &&
         std::none_of(e.ops.begin(), e.ops.end(), [&](const OpEvidence& op) {
           return IsForward(op) && !f.IsHarmless(op);
         });
}

// Returns a move of the scale, which proves most; else the first finding.
const Finding* FirstOf(const Facts& f) {
  const Finding* moved = f.found.First(kImpossibleMove);
  if (moved != nullptr) return moved;
  return f.found.First({kScaleLimitCycle, kScaleStuck, kScaleRunaway,
                        kLrSkipDesync, kClippedBeforeUnscaling,
                        kUnscaledTwice});
}

// True when the declared scaler cannot make such a move.
bool IsImpossible(const Facts& f) {
  const RunEvidence& e = f.evidence;
  return f.found.has(kImpossibleMove) && e.impossible_transitions > 0 &&
         !e.scaler.empty() && !e.scaler_recognised;
}

bool BeginsAt(const Facts& f, const Finding& first, Match* match) {
  CauseVerdict& verdict = match->verdict;
  match->BeginAt(&first);
  const Finding* moved = f.found.First(kImpossibleMove);
  if (moved != nullptr && ExplainsOverflows(f, *moved)) {
    verdict.rules |=
        {kOverflowStreak,   kOverflowRate,         kNeverCalibrated,
         kOpOverflowOrigin, kOpOverflowPropagated, kPersistentOpOverflow,
         kOpSaturation,     kOpInternalOverflow,   kNearOverflow};
  }
  return true;
}

// Says it of a scale that stands still: what matters is what is lost to it.
void SayNeverFell(const Facts& f, Match* match) {
  const Finding* row = f.found.First(kOverflowStreak);
  const auto lost = row == nullptr ? std::nullopt : NumberOf(*row, "streak");
  match->Say(
      match->Quote(*match->finding) +
      (lost ? fmt::format(" {:.0f} updates in a row overflowed.", *lost) : ""));
  match->Advise(
      "Call scaler.update() without a scale of your own: update(new_scale) "
      "sets it each time.",
      "pytorch");
}

}  // namespace

// True for a scale that halving and doubling do not lead to: something else
// wrote it.
bool WhenScaleIsNone(const Facts& f, const Matches&, Match* match) {
  const Finding* unusable = f.found.First(kScaleUnrepresentable);
  if (unusable == nullptr || !IsNoScale(f.evidence)) return false;
  match->BeginAt(unusable);
  match->verdict.grade = EvidenceGrade::kEstablished;
  return true;
}

void SayScaleIsNone(const Facts& f, Match* match) {
  match->Say(InBothTenses([&](Tense tense) {
    return fmt::format(
        "The loss scale {} {} since step {}, which no scaler makes of a "
        "positive one: something else sets it, or another number is reported "
        "in its place.",
        In(tense, "is", "was"), InWords(*f.evidence.scale_now),
        match->finding->opened_step);
  }));
  match->Advise(
      "Look for what assigns the loss scale beside its scaler, and which "
      "number is reported as loss_scale.");
}

bool WhenUnscaledWrongly(const Facts& f, const Matches&, Match* match) {
  const Finding* first = FirstOf(f);
  if (first == nullptr || (first->rule != kClippedBeforeUnscaling &&
                           first->rule != kUnscaledTwice)) {
    return false;
  }
  match->verdict.grade = EvidenceGrade::kEstablished;
  return BeginsAt(f, *first, match);
}

void SayUnscaledWrongly(const Facts&, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  match->Advise(
      match->finding->rule == kClippedBeforeUnscaling
          ? "Unscale the gradients before they are clipped (PyTorch: "
            "scaler.unscale_(optimizer), then clip_grad_norm_)."
          : "Let the scaler alone divide the gradients by the loss scale: what "
            "steps the optimizer does it, unless unscale_ did before.");
}

bool WhenScalerMisused(const Facts& f, const Matches&, Match* match) {
  const Finding* first = FirstOf(f);
  if (first == nullptr) return false;
  match->verdict.grade =
      IsImpossible(f) ? EvidenceGrade::kEstablished : EvidenceGrade::kSupported;
  return BeginsAt(f, *first, match);
}

void SayScalerMisused(const Facts& f, Match* match) {
  const Finding& first = *match->finding;
  if (first.rule == kImpossibleMove && StandsStill(first)) {
    SayNeverFell(f, match);
    return;
  }
  match->Say(
      IsImpossible(f)
          ? fmt::format("The loss scale made {} that the declared scaler, {}, "
                        "cannot make, first at step {}: {}",
                        CountOf(f.evidence.impossible_transitions, "move"),
                        f.evidence.scaler, first.opened_step,
                        match->Quote(first))
          : "The scaler is used wrongly. " + match->Quote(first));
}

}  // namespace nanwatch
