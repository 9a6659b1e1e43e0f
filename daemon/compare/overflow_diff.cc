#include "compare/overflow_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace nanwatch {
namespace {

// A value of the benchmark from this share of the largest one on is near the
// limit: another order of sums may go beyond it. Ours.
constexpr double kNearShare = 0.25;
// So many updates, the first halvings of a scale from 2^16 to 1. Ours.
constexpr size_t kManyLost = 16;
// Ops and steps of outputs. Where all is NaN there are no more to name.
constexpr size_t kMost = 4096;

using Place = std::pair<int64_t, std::string>;  // step, op
using Overflows = std::map<Place, DeviceOverflow>;

bool IsMade(Slot slot) {
  return slot == Slot::kOutput || slot == Slot::kGradInput;
}

bool IsGivenSlot(Slot slot) {
  return slot == Slot::kInput || slot == Slot::kGradOutput ||
         slot == Slot::kParameter;
}

void AddChecked(const ComparedRun& run, Overflows* overflows) {
  for (const DeviceOverflow& overflow : run.overflows) {
    overflows->try_emplace({overflow.step, overflow.op}, overflow);
  }
}

// Adds the ops that made NaN or infinities of what had none.
void AddMade(const ComparedRun& run, Overflows* overflows) {
  std::set<std::pair<int64_t, uint32_t>> passed_on;
  const size_t most = overflows->size() + kMost;
  for (const ComparedTensor& tensor : run.tensors) {
    if (SpecialsOf(tensor) == 0) continue;
    const std::pair of(tensor.step, tensor.op);
    if (IsGivenSlot(tensor.slot)) passed_on.insert(of);
    if (!IsMade(tensor.slot) || passed_on.count(of) > 0) continue;
    if (overflows->size() == most) return;
    const std::string& op = run.ops[tensor.op].name;
    const bool nan = tensor.nan.value_or(0) > 0;
    overflows->try_emplace(
        {tensor.step, op},
        DeviceOverflow{tensor.step, op, std::string(Name(tensor.slot)),
                       nan ? "NaN" : "infinities"});
  }
}

// What the benchmark's tensors say of one op and step.
struct Seen {
  bool finite = false;  // counted, and none is bad
  bool bad = false;
  double largest = 0;  // magnitude, at the other's loss scale
};

ComparedStep StepOrNone(const ComparedRun& run, int64_t step) {
  const auto at = std::lower_bound(
      run.steps.begin(), run.steps.end(), step,
      [](const ComparedStep& s, int64_t wanted) { return s.step < wanted; });
  return at != run.steps.end() && at->step == step ? *at : ComparedStep();
}

// How much larger gradients are in b than in a at a step.
double ScaleBeside(const ComparedRun& a, const ComparedRun& b, int64_t step) {
  const double of_a = StepOrNone(a, step).loss_scale.value_or(0);
  const double of_b = StepOrNone(b, step).loss_scale.value_or(0);
  return of_a > 0 && of_b > 0 ? of_b / of_a : 1;
}

std::map<Place, Seen> SeenIn(const ComparedRun& a, const ComparedRun& b,
                             const Overflows& wanted) {
  std::map<Place, Seen> seen;
  std::set<std::string> names;
  for (const auto& [place, overflow] : wanted) names.insert(place.second);
  for (const ComparedTensor& tensor : a.tensors) {
    const std::string& name = a.ops[tensor.op].name;
    if (!IsMade(tensor.slot) || names.count(name) == 0) continue;
    const Place place(tensor.step, name);
    if (wanted.count(place) == 0) continue;
    Seen& of = seen[place];
    if (SpecialsOf(tensor) > 0) of.bad = true;
    if (tensor.nan && tensor.inf) of.finite = true;
    const auto& statistics = tensor.statistics;
    if (!statistics || !statistics->min || !statistics->max) continue;
    const double scale =
        tensor.slot == Slot::kGradInput ? ScaleBeside(a, b, tensor.step) : 1;
    of.largest = std::max({of.largest, std::fabs(*statistics->min) * scale,
                           std::fabs(*statistics->max) * scale});
  }
  return seen;
}

bool HasStep(const ComparedRun& run, int64_t step) {
  const auto before = [](const auto& x, int64_t wanted) {
    return x.step < wanted;
  };
  const auto has = [&](const auto& list) {
    const auto at = std::lower_bound(list.begin(), list.end(), step, before);
    return at != list.end() && at->step == step;
  };
  return has(run.steps) || has(run.tensors);
}

// The largest number that the op's output can hold in a run; infinity: not
// known.
std::map<std::string, double> LimitsOf(const ComparedRun& run) {
  std::map<std::string, double> limits;
  for (const OpName& op : run.ops) {
    const double limit = MaxFinite(op.dtype);
    const auto [at, is_new] = limits.try_emplace(op.name, limit);
    if (!is_new) at->second = std::min(at->second, limit);
  }
  return limits;
}

}  // namespace

std::string_view Name(OpBeside beside) {
  switch (beside) {
    case OpBeside::kUnknown:
      return "unknown";
    case OpBeside::kNearLimit:
      return "near_limit";
    case OpBeside::kClean:
      return "clean";
  }
  return "";
}

const OverflowBeside* WorstOf(const OverflowDiff& diff) {
  for (const OverflowBeside& one : diff.only_b) {
    if (one.in_a == OpBeside::kClean) return &one;
  }
  return diff.only_b.empty() ? nullptr : &diff.only_b.front();
}

Severity SeverityOf(const OverflowDiff& diff) {
  if (diff.updates_lost >= kManyLost) return Severity::kCritical;
  Severity worst = Severity::kNone;
  for (const OverflowBeside& one : diff.only_b) {
    worst =
        std::max(worst, one.in_a == OpBeside::kNearLimit ? Severity::kInfo
                                                         : Severity::kWarning);
  }
  return worst;
}

OverflowDiff DiffOverflows(const ComparedRun& a, const ComparedRun& b) {
  OverflowDiff diff;
  Overflows of_a, of_b;
  AddChecked(a, &of_a);
  AddChecked(b, &of_b);
  for (const auto& [place, overflow] : of_a) {
    if (of_b.count(place) == 0) diff.only_a.push_back(overflow);
  }
  AddMade(b, &of_b);
  const std::map<Place, Seen> seen = SeenIn(a, b, of_b);
  const std::map<std::string, double> limits = LimitsOf(b);
  std::set<int64_t> abnormal;
  for (const auto& [place, overflow] : of_b) {
    const auto of = seen.find(place);
    const bool there = of != seen.end();
    if (of_a.count(place) > 0 || (there && of->second.bad)) {
      ++diff.both;
      continue;
    }
    OverflowBeside beside{overflow, OpBeside::kUnknown};
    const auto limit = limits.find(place.second);
    if (there && limit != limits.end() &&
        of->second.largest >= kNearShare * limit->second) {
      beside.in_a = OpBeside::kNearLimit;
    } else if ((there && of->second.finite) ||
               (a.device_checked && HasStep(a, place.first))) {
      beside.in_a = OpBeside::kClean;
      abnormal.insert(place.first);
    }
    diff.only_b.push_back(std::move(beside));
  }
  diff.abnormal_steps = abnormal.size();
  for (const int64_t step : abnormal)
    diff.updates_lost += StepOrNone(b, step).skipped;
  return diff;
}

}  // namespace nanwatch
