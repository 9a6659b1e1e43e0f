#include "compare/unsteady_ops.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compare/batch_diff.h"
#include "compare/loss_diff.h"
#include "compare/tensor_pair.h"
#include "compare/tensor_steps.h"

namespace nanwatch {
namespace {

constexpr std::string_view kNames[kUnsteadyKinds] = {
    "weights",           "data",     "op",
    "function",          "loss",     "backward",
    "backward_function", "gradient", "update",
    "between_steps"};

bool IsGiven(const TensorPair& pair) {
  return pair.a->slot == Slot::kInput || pair.a->slot == Slot::kGradOutput;
}

bool IsOf(const std::string& name, const std::string& module) {
  return name.size() > module.size() && name.starts_with(module) &&
         name[module.size()] == '.';
}

// One call of an op, forward or backward: its rows stand together, what it was
// given first. An op has a name for each shape that it has seen.
struct Call {
  const OpName* op = nullptr;
  Phase phase = Phase::kForward;
  bool given = false;
  bool made = false;
  bool given_equal = true;
  bool made_equal = true;
  std::optional<double> distance;  // of what it made

  bool Goes(const TensorPair& pair) const {
    return op != nullptr && op->name == pair.op->name && phase == pair.phase &&
           !(made && IsGiven(pair));
  }
  bool IsUnsteady() const { return given && given_equal && !made_equal; }
};

// The search through one step.
class Search {
 public:
  // `of_weights`: what it is if weights differ.
  explicit Search(UnsteadyKind of_weights) : of_weights_(of_weights) {}

  std::vector<Unsteady> Through(const PairedStep& step, bool other_loss) {
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase == Phase::kForward) root_ = pair.op->name;
    }
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase >= Phase::kBackward) EndForward(other_loss);
      switch (pair.phase) {
        case Phase::kWeights:
          if (!pair.equal) AddWeight(pair);
          break;
        case Phase::kBatch:
          if (!pair.equal) Add(UnsteadyKind::kData, pair);
          break;
        case Phase::kForward:
        case Phase::kBackward:
          TakeCall(pair);
          break;
        case Phase::kUpdate:
          break;
        case Phase::kGradients:
          TakeGradient(pair);
          break;
      }
      all_equal_ = all_equal_ && pair.equal;
    }
    EndForward(other_loss);
    End();
    return std::move(found_);
  }

 private:
  void Add(UnsteadyKind kind, const TensorPair& pair) {
    Add({.kind = kind,
         .op = pair.op->name,
         .type = pair.op->type,
         .distance = pair.distance});
  }

  void Add(Unsteady one) {
    for (Unsteady& known : found_) {
      if (known.kind != one.kind || known.op != one.op) continue;
      if (one.distance) {
        known.distance = std::max(known.distance.value_or(0), *one.distance);
      }
      ++known.tensors;
      return;
    }
    found_.push_back(std::move(one));
  }

  // All weights are one line, with the name of the first.
  void AddWeight(const TensorPair& pair) {
    other_weights_.insert(pair.op->name);
    if (other_weights_.size() == 1) {
      Add(of_weights_, pair);
      return;
    }
    ++found_.front().tensors;
  }

  void TakeCall(const TensorPair& pair) {
    if (!call_.Goes(pair)) {
      End();
      call_ = {.op = pair.op, .phase = pair.phase};
    }
    if (IsGiven(pair)) {
      call_.given = true;
      call_.given_equal = call_.given_equal && pair.equal;
      // The first difference of all came from somewhere.
      if (!pair.equal && all_equal_) AddFunction(pair);
    } else {
      call_.made = true;
      call_.made_equal = call_.made_equal && pair.equal;
      if (!pair.equal && pair.distance) {
        call_.distance = std::max(call_.distance.value_or(0), *pair.distance);
      }
    }
    if (!pair.equal) {
      other_.insert(pair.op->name);
    } else if (pair.phase == Phase::kBackward && IsGiven(pair)) {
      fine_.insert(pair.op->name);
    }
  }

  void AddFunction(const TensorPair& pair) {
    if (pair.phase == Phase::kForward) {
      Unsteady function{.kind = UnsteadyKind::kFunction,
                        .op = pair.op->name,
                        .type = pair.op->type,
                        .after = last_made_,
                        .distance = pair.distance};
      Add(std::move(function));
      return;
    }
    // Nothing came back yet: this is the loss's own gradient.
    Add(fine_.empty() ? UnsteadyKind::kLoss : UnsteadyKind::kBackwardFunction,
        pair);
  }

  void End() {
    const Call call = std::exchange(call_, {});
    if (call.op == nullptr) return;
    const std::string& name = call.op->name;
    if (call.phase == Phase::kForward && call.made) last_made_ = name;
    if (!call.IsUnsteady() || IsExplained(name)) return;
    // Backward: of other saved tensors another gradient.
    if (call.phase == Phase::kBackward && other_forward_.count(name) != 0) {
      return;
    }
    Add({.kind = call.phase == Phase::kForward ? UnsteadyKind::kOp
                                               : UnsteadyKind::kBackward,
         .op = name,
         .type = call.op->type,
         .distance = call.distance});
  }

  // What it makes is other for a reason that is named already: its weights, or
  // an op that it calls.
  bool IsExplained(const std::string& name) const {
    const auto in = [&](const std::string& part) {
      return name == root_ || IsOf(part, name);
    };
    return std::any_of(other_weights_.begin(), other_weights_.end(), in) ||
           std::any_of(found_.begin(), found_.end(), [&](const Unsteady& one) {
             return one.kind != UnsteadyKind::kData &&
                    (one.op == name || in(one.op));
           });
  }

  void EndForward(bool other_loss) {
    if (forward_ended_) return;
    End();
    forward_ended_ = true;
    other_forward_ = other_;
    if (all_equal_ && other_loss) {
      found_.push_back({.kind = UnsteadyKind::kLoss});
      all_equal_ = false;
    }
  }

  // A weight's gradient that is other though what its module saw, forward and
  // backward, is not. A weight of no module that is seen counts if all before
  // it is equal.
  void TakeGradient(const TensorPair& pair) {
    End();
    if (pair.equal) return;
    const std::string& name = pair.op->name;
    const std::string module = name.substr(0, name.rfind('.'));
    const bool born = fine_.count(module) != 0 && other_.count(module) == 0;
    if (!born && !all_equal_) return;
    Add(UnsteadyKind::kGradient, pair);
  }

  const UnsteadyKind of_weights_;
  Call call_;
  bool all_equal_ = true;
  bool forward_ended_ = false;
  std::string root_;       // the op that ends last in the forward pass, in all
  std::string last_made_;  // the op that ended last
  std::set<std::string> other_weights_;
  // Ops: of which a gradient arrived that is equal; of which anything is not;
  // of which anything of the forward pass is not.
  std::set<std::string> fine_, other_, other_forward_;
  std::vector<Unsteady> found_;
};

bool AllEqual(const PairedStep& step) {
  return std::all_of(step.pairs.begin(), step.pairs.end(),
                     [](const TensorPair& pair) { return pair.equal; });
}

UnsteadyKind OfWeights(std::optional<int64_t> known_equal, int64_t step) {
  if (!known_equal) return UnsteadyKind::kWeights;
  return *known_equal + 1 == step ? UnsteadyKind::kUpdate
                                  : UnsteadyKind::kBetween;
}

// Finite or not.
std::optional<int64_t> FirstOtherLoss(const LossDiff& loss) {
  std::optional<int64_t> first = loss.first_step;
  for (const std::optional<BadLoss>& bad : {loss.bad_in_a, loss.bad_in_b}) {
    if (bad) first = std::min(first.value_or(bad->step), bad->step);
  }
  return first;
}

bool IsBefore(std::optional<int64_t> x, std::optional<int64_t> y) {
  return x && (!y || *x < *y);
}

}  // namespace

std::string_view Name(UnsteadyKind kind) {
  return kNames[static_cast<int>(kind)];
}

UnsteadyOps FindUnsteadyOps(const ComparedRun& a, const ComparedRun& b) {
  const std::optional<int64_t> batch = DiffBatches(a, b).first_step;
  const std::optional<int64_t> loss = FirstOtherLoss(DiffLosses(a, b));
  UnsteadyOps unsteady;
  std::optional<int64_t> known_equal;
  for (const int64_t step : TensorStepsOfBoth(a, b)) {
    const PairedStep paired =
        PairTensors(a, TensorsOf(a, step), b, TensorsOf(b, step));
    const bool other_loss = loss && *loss == step;
    if (AllEqual(paired) && !other_loss) {
      known_equal = step;
      continue;
    }
    unsteady.step = step;
    unsteady.ops =
        Search(OfWeights(known_equal, step)).Through(paired, other_loss);
    break;
  }
  // Steps between have a loss and a batch alone.
  if (IsBefore(batch, unsteady.step) && !IsBefore(loss, batch)) {
    unsteady.step = batch;
    unsteady.ops = {{.kind = UnsteadyKind::kData}};
  } else if (IsBefore(loss, unsteady.step)) {
    unsteady.step = loss;
    unsteady.ops = {{.kind = UnsteadyKind::kBetween}};
  }
  return unsteady;
}

}  // namespace nanwatch
