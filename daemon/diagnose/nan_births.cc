#include "diagnose/nan_births.h"

#include <algorithm>
#include <cmath>

#include "diagnose/facts.h"
#include "diagnose/op_facts.h"

namespace nanwatch {
namespace {

using enum RuleId;

// ------------------------------------------------------------ backward pass

// True when the norm is NaN: an infinite one may be that of gradients that have
// grown.
bool HasNanNorm(const Finding& finding) {
  return finding.rule == kGnormExplosion &&
         std::isnan(NumberOf(finding, "grad_norm").value_or(0));
}

// True where the scale is 1 in every record: nothing is scaled, and no range of
// fp16 is left.
bool IsOne(const Case& c) {
  const RunEvidence& e = c.evidence;
  return !e.scaler_dynamic && e.scale_now == 1.0 && e.scale_min == 1.0 &&
         e.scale_max == 1.0 && !HasFp16(c.run);
}

// Returns the finding of updates that the program itself leaves out, one after
// another, for a norm that is NaN: rules on the norm do not look at those. What
// had grown before, and what holds infinities, may have left the range.
const Finding* LeftOut(const Facts& f) {
  const RunEvidence& e = f.evidence;
  if (e.grad_norm_nan == 0 || e.grad_norm_nan < e.grad_norm_nonfinite ||
      e.grad_norm_finite_while_overflow > 0 ||
      std::any_of(e.ops.begin(), e.ops.end(), IsGradient) ||
      f.found.HasAny(kNorm)) {
    return nullptr;
  }
  return f.found.First(kOverflowStreak);
}

bool HadGrown(const Facts& f, int64_t before) {
  const Finding* norm = f.found.First(kNorm);
  return norm != nullptr && norm->opened_step < before;
}

// True for NaN, and for infinities that did not leave a range: those of fp16
// did, as may have what had grown; of an update that was left out nobody asks
// which of both it was.
bool IsBornBad(const Facts& f, const OpEvidence& op) {
  if (!IsGradient(op)) return false;
  return HoldsNan(op) ||
         (op.inf > 0 && op.op.dtype != Dtype::kFp16 &&
          op.first_kept_step >= 0 && !HadGrown(f, op.first_kept_step));
}

// Returns the first step at which a gradient was bad and may have been applied.
// One that was left out made nothing of what came later: it counts where
// nothing came.
std::optional<int64_t> StepOf(const OpEvidence& op, const RunEvidence& e) {
  if (op.first_kept_step >= 0) return op.first_kept_step;
  const bool came =
      e.loss_nonfinite > 0 && e.last_nonfinite_loss_step >= op.first_bad_step;
  return came ? std::nullopt : std::optional(op.first_bad_step);
}

struct Birth {
  int64_t step = 0;
  bool kept = true;  // its update may have been applied
};

// Returns the first step at which gradients held NaN; that of an op where one
// is known.
std::optional<Birth> FirstBirth(const Facts& f) {
  std::optional<Birth> first;
  for (const OpEvidence& op : f.evidence.ops) {
    if (!IsBornBad(f, op)) continue;
    const std::optional<int64_t> step = StepOf(op, f.evidence);
    if (step && (!first || *step < first->step)) {
      first = {*step, op.first_kept_step >= 0};
    }
  }
  if (first) return first;
  if (f.found.has(kGnormExplosion)) {
    const Finding* norm = f.found.FirstWhere(HasNanNorm);
    if (norm != nullptr) return Birth{norm->opened_step, true};
  }
  // The next loss says that its update was applied.
  if (f.evidence.nan_norm_before_loss >= 0) {
    return Birth{f.evidence.nan_norm_before_loss, true};
  }
  if (const Finding* streak = LeftOut(f)) {
    return Birth{streak->opened_step, false};
  }
  return std::nullopt;
}

// True when another trouble came before. What was left out before a birth has
// nothing to do with it.
bool CameAfterAnother(const Facts& f, const Birth& birth) {
  const RunEvidence& e = f.evidence;
  const int64_t step = birth.step;
  const int64_t loss = e.first_kept_nonfinite_loss_step;
  // A step may have several updates, the first of which spoils what the next
  // one's loss is made of.
  const bool before_loss = loss == step && e.nan_norm_before_loss == step;
  if (loss >= 0 && loss <= step && !before_loss) return true;
  if (!birth.kept && e.loss_nonfinite > 0 &&
      e.last_nonfinite_loss_step >= step) {
    return true;
  }
  const auto came_before = [step](const OpEvidence& op) {
    return op.first_bad_step <= step &&
           (op.last_bad_step >= step ||
            (op.first_kept_step >= 0 && op.first_kept_step <= step));
  };
  return std::any_of(e.ops.begin(), e.ops.end(), [&](const OpEvidence& op) {
    return IsForward(op) && came_before(op) && !f.IsHarmless(op);
  });
}

// ------------------------------------------------------------- forward pass

bool Overflows(const Case& c, const OpEvidence& op) {
  const bool saturates = c.run.overflow_mode == OverflowMode::kSaturation;
  return op.inf > 0 || (saturates && op.saturated > 0);
}

// True for an overflow before the NaN, which became it: inf - inf, 0 * inf. One
// that had gone on for long without a NaN is trouble of its own.
bool Became(const OpEvidence& op, const OpEvidence& nan) {
  if (nan.first_inputs_clean && op.op.name != nan.op.name) return false;
  return WasBadAt(op, nan.first_bad_step) && ComesBefore(op, nan) &&
         nan.first_bad_step - op.first_bad_step <= kRecentSteps;
}

// Returns the first op with a NaN in the forward pass; or with an infinity,
// once the loss is not finite either.
const OpEvidence* FirstNan(const Facts& f) {
  const bool loss_bad = f.evidence.loss_nonfinite > 0;
  for (const OpEvidence& op : f.evidence.ops) {
    if (!IsForward(op) || f.IsHarmless(op)) continue;
    if (op.nan > 0 || (loss_bad && op.inf > 0)) return &op;
  }
  return nullptr;
}

// Returns the first bad op on the way to `nan`.
const OpEvidence* OriginOf(const Facts& f, const OpEvidence* nan) {
  if (nan == nullptr) return nullptr;
  for (const OpEvidence& op : f.evidence.ops) {
    if (&op != nan && IsForward(op) && Overflows(f, op) && Became(op, *nan) &&
        !f.IsHarmless(op)) {
      return &op;
    }
  }
  return nan;
}

// Counts weights that are not finite only after a loss that was not: its update
// wrote that into all that it reached. Of one alone its name is news.
int SpoiltWeights(const RunEvidence& e, const OpEvidence& origin) {
  if (e.loss_nonfinite == 0 ||
      origin.first_bad_step <= e.first_nonfinite_loss_step) {
    return 0;
  }
  const auto spoilt =
      std::count_if(e.ops.begin(), e.ops.end(), [&](const OpEvidence& op) {
        return op.slot == Slot::kParameter && op.nan + op.inf > 0 &&
               op.first_bad_step > e.first_nonfinite_loss_step;
      });
  return spoilt > 1 ? static_cast<int>(spoilt) : 0;
}

}  // namespace

bool PrintsZeroForNan(const RunDescription& run) {
  const auto term = run.settings.find("nonfinite_loss");
  return term != run.settings.end() && term->second == "0";
}

bool HoldsNan(const OpEvidence& op) {
  return (op.first_kept_step >= 0 ? op.kept_nan : op.nan) > 0;
}

bool WasBadAt(const OpEvidence& op, int64_t step) {
  return op.first_bad_step <= step && step <= op.last_bad_step;
}

bool ComesBefore(const OpEvidence& op, const OpEvidence& other) {
  if (op.op.name == other.op.name) {
    return other.slot == Slot::kOutput && op.slot != Slot::kOutput;
  }
  return op.first_bad_order >= 0 && op.first_bad_order < other.first_bad_order;
}

RuleId RuleOfNan(const Facts& f, const CauseVerdict& verdict) {
  for (const bool of_scale : {false, true}) {
    const Finding* op = f.found.FirstWhere([&](const Finding& finding) {
      return !finding.subject.op.empty() &&
             finding.subject.op == verdict.origin.op &&
             (finding.family == Family::kScale) == of_scale &&
             Explains(verdict, finding);
    });
    if (op != nullptr) return op->rule;
  }
  return f.found.has(RuleId::kLossNonfinite) ? RuleId::kLossNonfinite
                                             : RuleId::kNone;
}

std::optional<BackwardNan> FindBackwardNan(const Facts& f) {
  const RunEvidence& e = f.evidence;
  if ((f.scaled && !IsOne(f)) || e.loss_finite == 0 ||
      f.run.overflow_mode == OverflowMode::kSaturation) {
    return std::nullopt;
  }
  const std::optional<Birth> birth = FirstBirth(f);
  if (!birth || CameAfterAnother(f, *birth)) return std::nullopt;
  BackwardNan nan;
  nan.step = birth->step;
  for (const OpEvidence& op : e.ops) {
    if (IsBornBad(f, op) && StepOf(op, e) == nan.step) {
      nan.gradients.push_back(&op);
    }
  }
  std::stable_partition(
      nan.gradients.begin(), nan.gradients.end(),
      [&](const OpEvidence* op) { return MadeIt(*op, nan.step); });
  nan.left_out = nan.gradients.empty() && LeftOut(f) != nullptr;
  return nan;
}

std::optional<ForwardNan> FindForwardNan(const Facts& f) {
  // What is born in the backward pass has a cause of its own.
  if (f.backward) return std::nullopt;
  ForwardNan found;
  found.nan = FirstNan(f);
  found.origin = OriginOf(f, found.nan);
  if (found.origin == nullptr) {
    if (f.evidence.loss_nonfinite == 0) return std::nullopt;
    return found;
  }
  found.spoilt = SpoiltWeights(f.evidence, *found.origin);
  return found;
}

}  // namespace nanwatch
