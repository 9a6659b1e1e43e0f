#include "compare/unsteady_ops.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "compare/tensor_steps.h"

namespace nanwatch {
namespace {

// One call of an op: its rows stand together.
struct Call {
  const OpName* op = nullptr;
  Phase phase = Phase::kForward;
  bool any_given = false;
  bool given_equal = true;
  bool made_equal = true;
  std::optional<double> distance;  // of what it made
};

bool IsGiven(const TensorPair& pair) {
  return pair.a->slot == Slot::kInput || pair.a->slot == Slot::kGradOutput;
}

void Take(const TensorPair& pair, Call* call) {
  if (IsGiven(pair)) {
    call->any_given = true;
    call->given_equal = call->given_equal && pair.equal;
    return;
  }
  call->made_equal = call->made_equal && pair.equal;
  if (!pair.equal && pair.distance) {
    call->distance = std::max(call->distance.value_or(0), *pair.distance);
  }
}

class Search {
 public:
  std::vector<UnsteadyOp> Through(const PairedStep& step) {
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase == Phase::kBatch || pair.phase == Phase::kWeights) {
        if (!pair.equal) Add(pair, false);
        continue;
      }
      if (pair.phase == Phase::kGradients) continue;
      if (call_.op != pair.op || call_.phase != pair.phase) End();
      call_.op = pair.op;
      call_.phase = pair.phase;
      // The first difference of all came from somewhere.
      if (IsGiven(pair) && !pair.equal && all_equal_) Add(pair, true);
      Take(pair, &call_);
      all_equal_ = all_equal_ && pair.equal;
      Remember(pair);
    }
    End();
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase == Phase::kGradients && !pair.equal && IsBorn(pair)) {
        Add(pair, false);
      }
    }
    return std::move(found_);
  }

 private:
  void Add(const TensorPair& pair, bool before) {
    found_.push_back(
        {pair.op->name, pair.op->type, pair.phase, before, pair.distance});
  }

  void End() {
    const Call call = call_;
    call_ = {};
    if (call.op == nullptr || !call.any_given || !call.given_equal ||
        call.made_equal || Calls(call.op->name)) {
      return;
    }
    found_.push_back(
        {call.op->name, call.op->type, call.phase, false, call.distance});
  }

  // Another one is named already that this one calls.
  bool Calls(const std::string& name) const {
    return std::any_of(found_.begin(), found_.end(), [&](const UnsteadyOp& o) {
      return o.op == name || o.op.starts_with(name + ".") || root_ == name;
    });
  }

  // By module: whether all gradients that arrived there were equal.
  void Remember(const TensorPair& pair) {
    if (pair.phase == Phase::kForward) root_ = pair.op->name;
    if (pair.phase != Phase::kBackward || !IsGiven(pair)) return;
    (pair.equal ? fine_ : other_).insert(pair.op->name);
  }
  // A weight's gradient that is other though what arrived at its module is not.
  bool IsBorn(const TensorPair& pair) const {
    const std::string module =
        pair.op->name.substr(0, pair.op->name.rfind('.'));
    return fine_.count(module) != 0 && other_.count(module) == 0;
  }

  Call call_;
  bool all_equal_ = true;
  std::string root_;  // the op that ends last in the forward pass
  std::set<std::string> fine_, other_;
  std::vector<UnsteadyOp> found_;
};

}  // namespace

UnsteadyOps FindUnsteadyOps(const ComparedRun& a, const ComparedRun& b) {
  UnsteadyOps unsteady;
  for (const int64_t step : TensorStepsOfBoth(a, b)) {
    const PairedStep paired =
        PairTensors(a, TensorsOf(a, step), b, TensorsOf(b, step));
    if (std::all_of(paired.pairs.begin(), paired.pairs.end(),
                    [](const TensorPair& pair) { return pair.equal; })) {
      continue;
    }
    unsteady.step = step;
    unsteady.ops = Search().Through(paired);
    return unsteady;
  }
  return unsteady;
}

}  // namespace nanwatch
