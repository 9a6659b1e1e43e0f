#include "compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/paired_steps.h"
#include "compare/step_walk.h"
#include "compare/steps_of_both.h"

namespace nanwatch {
namespace {

// A loss is a sum of the model's output: beyond this many times the noise of
// what it is made of it is another function.
constexpr double kLossJump = 32;
// Means of 20 losses that lie apart by so much are no noise; Megatron's.
constexpr double kFarApart = 0.05;
constexpr double kLossRounding = 1e-6;

const ComparedStep* StepAt(const ComparedRun& run, int64_t step) {
  const auto at = std::lower_bound(
      run.steps.begin(), run.steps.end(), step,
      [](const ComparedStep& s, int64_t wanted) { return s.step < wanted; });
  return at != run.steps.end() && at->step == step ? &*at : nullptr;
}

// The first step with other rates.
std::optional<int64_t> OtherRate(const ComparedRun& a, const ComparedRun& b) {
  std::optional<int64_t> first;
  ForEachStepOfBoth(a, b, [&](const ComparedStep& x, const ComparedStep& y) {
    if (first || !x.learning_rate || !y.learning_rate) return;
    if (*x.learning_rate != *y.learning_rate) first = x.step;
  });
  return first;
}

// The walk over all steps of which both have tensors.
class RunWalk {
 public:
  RunWalk(const ComparedRun& a, const ComparedRun& b, const Floors* floors,
          Comparison* out)
      : a_(a), b_(b), floors_(floors), out_(out) {}

  void Go() {
    PairedSteps paired(a_, b_, floors_);
    out_->tensor_steps = paired.steps();
    for (size_t i = 0; i < paired.steps().size() && !out_->first; ++i) {
      GoThrough(paired.At(i));
    }
  }

 private:
  void GoThrough(const StepAndNear& near) {
    const PairedStep& paired = near.step();
    const bool fresh = !before_;
    const WalkedStep walked = Walk(near, {fresh, same_before_});
    out_->tensors += paired.pairs.size();
    out_->only_a += paired.only_a;
    out_->only_b += paired.only_b;
    out_->incomparable += paired.incomparable;
    for (const TensorPair& pair : paired.pairs) {
      out_->by_statistics += pair.by_statistics;
    }
    if (walked.floor > 0) {
      out_->unseen = walked.floor;
      out_->unseen_gradients = std::max(walked.floor, walked.gradient_floor);
    }
    if (walked.first_unequal && !out_->bits) {
      KeepBits(paired.step, paired.pairs[*walked.first_unequal]);
    }
    out_->other_layout = out_->other_layout || walked.other_layout;
    if (walked.first_beyond) {
      Part(paired, walked);
      return;
    }
    if (!walked.other_layout && HasOtherLoss(paired.step, walked.noise)) {
      PartByLoss(paired, walked);
      return;
    }
    same_before_ = (fresh || same_before_) && !walked.first_unequal;
    before_ = paired.step;
  }

  void KeepBits(int64_t step, const TensorPair& pair) {
    out_->bits = BitsPart{step, pair.op->name, pair.a->slot, pair.distance};
  }

  bool HasOtherLoss(int64_t step, double noise) const {
    const ComparedStep* x = StepAt(a_, step);
    const ComparedStep* y = StepAt(b_, step);
    if (x == nullptr || y == nullptr || !x->loss || !y->loss) return false;
    if (!std::isfinite(*x->loss) || !std::isfinite(*y->loss)) return false;
    // After updates losses lie apart as weights do.
    if (before_ && !same_before_) return false;
    const double share =
        std::fabs(*x->loss - *y->loss) / std::max(std::fabs(*x->loss), 1e-12);
    const double usual = floors_ == nullptr ? 0 : floors_->LossAt(step);
    return share >
           std::max({kLossRounding, kLossJump * noise, kOfRepeats * usual});
  }

  Divergence Begin(const PairedStep& paired, const WalkedStep& walked) const {
    Divergence d;
    d.step = paired.step;
    d.floor = walked.floor;
    d.equal_before = walked.equal;
    d.within_before = walked.within;
    d.beyond = walked.beyond;
    d.known_equal = before_;
    return d;
  }

  void PartByLoss(const PairedStep& paired, const WalkedStep& walked) {
    Divergence d = Begin(paired, walked);
    d.kind = DivergenceClass::kDivergentLoss;
    d.op = "loss";
    d.phase = Phase::kForward;
    out_->first = d;
  }

  void Part(const PairedStep& paired, const WalkedStep& walked) {
    const TensorPair& pair = paired.pairs[*walked.first_beyond];
    Divergence d = Begin(paired, walked);
    d.op = pair.op->name;
    d.type = pair.op->type;
    d.dtype = pair.op->dtype;
    d.slot = pair.a->slot;
    d.phase = pair.phase;
    d.other_shape = pair.other_shape;
    d.by_statistics = pair.by_statistics;
    if (pair.by_statistics && pair.a->elements == 1 &&
        pair.a->statistics->max && pair.b->statistics->max) {
      d.value_a = pair.a->statistics->max;
      d.value_b = pair.b->statistics->max;
    }
    d.distance = pair.distance;
    d.nan_a = pair.a->nan;
    d.nan_b = pair.b->nan;
    d.inf_a = pair.a->inf;
    d.inf_b = pair.b->inf;
    d.input_known = std::any_of(
        paired.pairs.begin(),
        paired.pairs.begin() + static_cast<ptrdiff_t>(*walked.first_beyond),
        [&pair](const TensorPair& other) {
          return other.op->name == pair.op->name &&
                 other.a->slot == Slot::kInput;
        });
    d.kind = ClassOf(pair, paired, walked);
    if (d.kind == DivergenceClass::kDivergentLoss) d.op = "loss";
    if (d.kind == DivergenceClass::kBetweenSteps) SetStepBetween(&d);
    if (d.by_statistics && d.phase == Phase::kGradients) {
      SetFarthest(paired, *walked.first_beyond, &d);
    }
    out_->first = d;
  }

  static void SetFarthest(const PairedStep& paired, size_t at, Divergence* d) {
    for (; at < paired.pairs.size(); ++at) {
      const TensorPair& pair = paired.pairs[at];
      if (pair.phase != Phase::kGradients || !pair.distance ||
          *pair.distance <= d->farthest) {
        continue;
      }
      d->farthest = *pair.distance;
      d->farthest_op = pair.op->name;
    }
  }

  // The losses of each step are there: the first that differs is nearer.
  void SetStepBetween(Divergence* d) const {
    const std::optional<int64_t> loss = out_->loss.first_step;
    if (loss && *loss > *before_ && *loss < d->step) d->step = *loss;
  }

  DivergenceClass ClassOf(const TensorPair& pair, const PairedStep& paired,
                          const WalkedStep& walked) const {
    if (!paired.ordered) return DivergenceClass::kUnordered;
    switch (pair.phase) {
      case Phase::kWeights:
        return ClassOfWeights(paired.step);
      case Phase::kBatch:
        return DivergenceClass::kOtherData;
      case Phase::kForward:
        return ClassOfForward(paired, *walked.first_beyond);
      case Phase::kUpdate:
        return DivergenceClass::kOptimizer;
      case Phase::kBackward:
      case Phase::kGradients:
        break;
    }
    const size_t at = *walked.first_beyond;
    const bool only_gradients =
        at == 0 || paired.pairs[at - 1].phase <= Phase::kBatch;
    if (pair.phase == Phase::kGradients &&
        (only_gradients || walked.other_layout)) {
      return DivergenceClass::kBeforeGradients;
    }
    const bool first = at == 0 || paired.pairs[at - 1].phase < pair.phase;
    if (!walked.other_layout && (HasOtherLoss(paired.step, walked.noise) ||
                                 (first && pair.phase == Phase::kBackward))) {
      return DivergenceClass::kDivergentLoss;
    }
    const bool reduced = pair.phase == Phase::kGradients &&
                         (a_.several_ranks || b_.several_ranks);
    return reduced ? DivergenceClass::kCollective
                   : DivergenceClass::kDivergentBackward;
  }

  DivergenceClass ClassOfWeights(int64_t step) const {
    if (!before_) return DivergenceClass::kOtherWeights;
    if (*before_ + 1 < step) return DivergenceClass::kBetweenSteps;
    const ComparedStep* x = StepAt(a_, *before_);
    const ComparedStep* y = StepAt(b_, *before_);
    const bool rates =
        x != nullptr && y != nullptr && x->learning_rate != y->learning_rate;
    return rates ? DivergenceClass::kOtherSchedule
                 : DivergenceClass::kOptimizer;
  }

  static DivergenceClass ClassOfForward(const PairedStep& paired, size_t at) {
    const TensorPair& pair = paired.pairs[at];
    if (pair.a->slot == Slot::kInput) return ClassOfInput(paired, at);
    return pair.op->type.find("Dropout") != std::string::npos
               ? DivergenceClass::kOtherSeed
               : DivergenceClass::kDivergentOp;
  }

  // Dumps have no batch, and not always the weights: both are what ops get and
  // none made.
  static DivergenceClass ClassOfInput(const PairedStep& paired, size_t at) {
    bool weights = false, outputs = false;
    for (size_t i = 0; i < at; ++i) {
      const TensorPair& pair = paired.pairs[i];
      if (pair.phase == Phase::kBatch) {
        return DivergenceClass::kDivergentFunction;
      }
      weights = weights || pair.phase == Phase::kWeights;
      if (pair.phase != Phase::kForward || pair.a->slot != Slot::kOutput) {
        continue;
      }
      outputs = true;
      if (HaveEqualValues(*pair.a, *paired.pairs[at].a).value_or(false)) {
        return DivergenceClass::kDivergentFunction;
      }
    }
    return weights && !outputs ? DivergenceClass::kOtherData
                               : DivergenceClass::kOtherInput;
  }

  const ComparedRun& a_;
  const ComparedRun& b_;
  const Floors* const floors_;  // null: none
  Comparison* const out_;
  std::optional<int64_t> before_;  // the step walked last
  bool same_before_ = false;       // all of it was equal to the bit
};

// What differs at a step without recorded tensors, before the walk
// found something, or at that step and before it in the order of causes.
void TakeEarlier(const ComparedRun& a, const ComparedRun& b, Comparison* out) {
  const auto is_before = [out](int64_t step, Phase phase) {
    return !out->first || step < out->first->step ||
           (step == out->first->step && phase < out->first->phase);
  };
  if (out->batches.first_step && !out->other_layout &&
      is_before(*out->batches.first_step, Phase::kBatch)) {
    Divergence d;
    d.kind = DivergenceClass::kOtherData;
    d.step = *out->batches.first_step;
    d.op = "batch";
    d.phase = Phase::kBatch;
    out->first = d;
  }
  const std::optional<int64_t> rate = OtherRate(a, b);
  // The update is the last of a step.
  if (rate && (!out->first || *rate < out->first->step)) {
    Divergence d;
    d.kind = DivergenceClass::kOtherSchedule;
    d.step = *rate;
    d.op = "learning rate";
    d.phase = Phase::kGradients;
    out->first = d;
  }
}

// All tensors are equal to the bit, and the losses part behind the last of
// them.
void TakeLater(Comparison* out) {
  if (out->first || out->bits || out->tensor_steps.empty()) return;
  const int64_t last = out->tensor_steps.back();
  if (out->loss.first_step.value_or(last) <= last) return;
  Divergence d;
  d.kind = DivergenceClass::kBetweenSteps;
  d.step = *out->loss.first_step;
  d.op = "the loss";
  d.known_equal = last;
  out->first = d;
}

}  // namespace

bool LossesPartLater(const Comparison& c) {
  return c.bits && !c.tensor_steps.empty() && c.loss.farthest &&
         std::fabs(*c.loss.farthest) >= kFarApart &&
         c.loss.farthest_step > c.tensor_steps.back();
}

Comparison Compare(const ComparedRun& a, const ComparedRun& b,
                   const Floors* floors) {
  Comparison out;
  out.settings = DiffSettings(a.description, b.description);
  out.settings_known =
      !a.description.settings.empty() || !b.description.settings.empty();
  out.loss = DiffLosses(a, b);
  // Of other ranks' batches each has its share.
  if (a.description.world_size == b.description.world_size) {
    out.batches = DiffBatches(a, b);
  }
  out.overflows = DiffOverflows(a, b);
  out.empty = a.empty + b.empty;
  out.unread = a.unread + b.unread;
  RunWalk(a, b, floors, &out).Go();
  TakeEarlier(a, b, &out);
  TakeLater(&out);
  return out;
}

}  // namespace nanwatch
