#include "diagnose/nan_from_backward.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/first_found.h"
#include "diagnose/nan_rule.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kSpike = RuleId::kGnormSpike;
constexpr RuleId kExplosion = RuleId::kGnormExplosion;
constexpr RuleId kStreak = RuleId::kOverflowStreak;

// The norm is NaN: an infinite one may be that of gradients that have grown.
bool HasNanNorm(const Finding& finding) {
  return finding.rule == kExplosion &&
         std::isnan(NumberOf(finding, "grad_norm").value_or(0));
}

// Update after update is left out by the program itself, for a norm that is not
// finite: rules on the norm do not look at those. What had grown before, and
// what holds infinities alone, may have left the range.
const Finding* LeftOut(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (e.grad_norm_nonfinite == 0 || e.grad_norm_finite_while_overflow > 0 ||
      std::any_of(e.ops.begin(), e.ops.end(), IsGradient) ||
      std::any_of(c.findings.begin(), c.findings.end(), [](const Finding& f) {
        return f.rule == kSpike || f.rule == kExplosion;
      })) {
    return nullptr;
  }
  return FirstOfRule(c.findings, kStreak);
}

bool HadGrown(const Case& c, int64_t before) {
  return std::any_of(c.findings.begin(), c.findings.end(),
                     [before](const Finding& f) {
                       return (f.rule == kSpike || f.rule == kExplosion) &&
                              f.opened_step < before;
                     });
}

// At the step that matters.
bool HoldsNan(const OpEvidence& op) {
  return (op.first_kept_step >= 0 ? op.kept_nan : op.nan) > 0;
}

// Infinities alone: those of fp16 left its range, as may have what had grown;
// and of updates that were left out nobody asks which of both it was.
bool IsBornBad(const Case& c, const OpEvidence& op) {
  if (!IsGradient(op)) return false;
  return HoldsNan(op) ||
         (op.inf > 0 && op.op.dtype != Dtype::kFp16 &&
          op.first_kept_step >= 0 && !HadGrown(c, op.first_kept_step));
}

const char* KindOf(const OpEvidence& op) {
  return HoldsNan(op) ? "NaN" : "Inf";
}

// The first step at which a gradient was bad and may have been applied. One
// that was left out made nothing of what came later: it counts where nothing
// came.
std::optional<int64_t> StepOf(const OpEvidence& op, const RunEvidence& e) {
  if (op.first_kept_step >= 0) return op.first_kept_step;
  const bool came =
      e.loss_nonfinite > 0 && e.last_nonfinite_loss_step >= op.first_bad_step;
  return came ? std::nullopt : std::optional(op.first_bad_step);
}

struct Birth {
  int64_t step = 0;
  bool kept = true;
};

// The first step at which gradients held NaN; of ops if any was told.
std::optional<Birth> FirstBirth(const Case& c) {
  std::optional<Birth> first;
  for (const OpEvidence& op : c.evidence.ops) {
    if (!IsBornBad(c, op)) continue;
    const std::optional<int64_t> step = StepOf(op, c.evidence);
    if (step && (!first || *step < first->step)) {
      first = {*step, op.first_kept_step >= 0};
    }
  }
  if (first) return first;
  if (const Finding* norm = FirstFound(c.findings, HasNanNorm)) {
    return Birth{norm->opened_step, true};
  }
  if (const Finding* streak = LeftOut(c)) {
    return Birth{streak->opened_step, false};
  }
  return std::nullopt;
}

// The loss rose before it, and so recently, or with such gradients, that they
// may have left the range with it.
bool Diverged(const Case& c, int64_t step) {
  const bool grown = HadGrown(c, step);
  return std::any_of(
      c.findings.begin(), c.findings.end(), [&](const Finding& finding) {
        return IsOfLoss(finding.rule) && finding.severity > Severity::kInfo &&
               finding.opened_step <= step &&
               (grown || step - finding.opened_step <= kRecentSteps);
      });
}

// `kept`: the update of `step` may have been applied. What was left out before
// it has nothing to do with it.
bool CameAfterAnother(const Case& c, int64_t step, bool kept) {
  const RunEvidence& e = c.evidence;
  const int64_t loss = e.first_kept_nonfinite_loss_step;
  if (loss >= 0 && loss <= step) return true;
  if (!kept && e.loss_nonfinite > 0 && e.last_nonfinite_loss_step >= step) {
    return true;
  }
  const auto came_before = [step](const OpEvidence& op) {
    return op.first_bad_step <= step &&
           (op.last_bad_step >= step ||
            (op.first_kept_step >= 0 && op.first_kept_step <= step));
  };
  const bool forward =
      std::any_of(e.ops.begin(), e.ops.end(), [&](const OpEvidence& op) {
        return IsForward(op) && came_before(op) && !IsHarmless(c, op);
      });
  return forward || GrownLoss(c) != nullptr || Diverged(c, step);
}

std::string NamesOf(const BackwardNan& nan) {
  constexpr size_t kNamed = 3;
  std::string text;
  const size_t all = nan.gradients.size();
  for (size_t i = 0; i < std::min(all, kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + nan.gradients[i]->op.name;
  }
  if (all > kNamed) text += fmt::format(" and {} more", all - kNamed);
  return text;
}

// Evidence is in the order of execution.
bool IsOrderKnown(const BackwardNan& nan) {
  return nan.gradients.size() > 1 &&
         std::all_of(
             nan.gradients.begin(), nan.gradients.end(),
             [](const OpEvidence* op) { return op->first_bad_order >= 0; });
}

std::string Where(const BackwardNan& nan) {
  if (nan.gradients.empty()) {
    return "the gradient norm is not; of which parameter was not told";
  }
  const OpEvidence& first = *nan.gradients[0];
  if (MadeIt(first, nan.step)) {
    return fmt::format(
        "the gradient that reaches {} is finite, what {} makes of it is not "
        "({})",
        InWords(first.op), first.op.name, KindOf(first));
  }
  return fmt::format(
      "of the gradients that were told {} not{}",
      nan.gradients.size() == 1 ? "that of " + NamesOf(nan) + " is"
                                : "those of " + NamesOf(nan) + " are",
      IsOrderKnown(nan)
          ? fmt::format("; of these {} comes last in the model, where the "
                        "backward pass mostly begins",
                        first.op.name)
          : "");
}

}  // namespace

std::optional<BackwardNan> FindBackwardNan(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (IsScaled(c) || e.loss_finite == 0 ||
      c.run.overflow_mode == OverflowMode::kSaturation) {
    return std::nullopt;
  }
  const std::optional<Birth> birth = FirstBirth(c);
  if (!birth || CameAfterAnother(c, birth->step, birth->kept)) {
    return std::nullopt;
  }
  BackwardNan nan;
  nan.step = birth->step;
  for (const OpEvidence& op : e.ops) {
    if (IsBornBad(c, op) && StepOf(op, e) == nan.step) {
      nan.gradients.push_back(&op);
    }
  }
  std::stable_partition(
      nan.gradients.begin(), nan.gradients.end(),
      [&](const OpEvidence* op) { return MadeIt(*op, nan.step); });
  return nan;
}

Action LookForInfiniteSlope() {
  return {
      "",
      "Look there, and on the way from the loss, for what is finite and has "
      "an infinite slope: sqrt, norm or pow at 0, a division or log at its "
      "edge. Add an epsilon inside of it, or mask its input: a mask on its "
      "result comes too late."};
}

std::optional<CauseVerdict> NanFromBackward(const Case& c) {
  const std::optional<BackwardNan> found = FindBackwardNan(c);
  if (!found || GrownLoss(c) != nullptr) return std::nullopt;
  const BackwardNan& nan = *found;
  const RunEvidence& e = c.evidence;
  CauseVerdict verdict;
  verdict.cause = Cause::kNanFromBackward;
  verdict.rules = {RuleId::kOverflowStreak,
                   RuleId::kOverflowRate,
                   RuleId::kNeverCalibrated,
                   RuleId::kOverflowNotScaleDependent,
                   RuleId::kLossNonfinite,
                   RuleId::kWeightNonfinite,
                   RuleId::kOptimizerStateNonfinite,
                   RuleId::kOpOverflowOrigin,
                   RuleId::kOpOverflowPropagated,
                   RuleId::kPersistentOpOverflow,
                   RuleId::kOpSaturation,
                   RuleId::kOpInternalOverflow,
                   RuleId::kGnormExplosion};
  verdict.step = nan.step;
  verdict.grade = nan.gradients.empty() && LeftOut(c) != nullptr
                      ? EvidenceGrade::kHypothesis
                      : EvidenceGrade::kSupported;
  if (!nan.gradients.empty()) {
    const OpEvidence& first = *nan.gradients[0];
    verdict.origin = OriginOf(first);
    if (MadeIt(first, nan.step)) verdict.grade = EvidenceGrade::kEstablished;
  }
  verdict.sentence = fmt::format(
      "{} is born in the backward pass at step {}: the loss of that step is "
      "finite, {}.",
      nan.gradients.empty() ? "NaN" : KindOf(*nan.gradients[0]), nan.step,
      Where(nan));
  const bool spoilt = e.first_kept_nonfinite_loss_step > nan.step;
  if (spoilt) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("The loss is not finite from step {} on: the update wrote "
                     "it into the weights.",
                     e.first_kept_nonfinite_loss_step)});
  }
  verdict.actions.push_back(LookForInfiniteSlope());
  std::string leave = "Leave an update out whose gradient norm is not finite";
  if (nan.step > 1 && spoilt) {
    leave += fmt::format(", and resume from the last checkpoint before step {}",
                         nan.step);
  }
  verdict.actions.push_back({"", leave + "."});
  verdict.rule = RuleOfNan(c, verdict);
  verdict.actions.push_back(
      {"pytorch",
       "clip_grad_norm_(parameters, max_norm, error_if_nonfinite=True) stops "
       "before such an update."});
  return verdict;
}

}  // namespace nanwatch
