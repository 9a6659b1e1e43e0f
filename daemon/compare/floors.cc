#include "compare/floors.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compare/steps_of_both.h"
#include "compare/tensor_steps.h"

namespace nanwatch {

void Floors::Take(const ComparedRun& a, const ComparedRun& b) {
  for (const int64_t step : TensorStepsOfBoth(a, b)) {
    StepFloors& floors = steps[step];
    const PairedStep paired =
        PairTensors(a, TensorsOf(a, step), b, TensorsOf(b, step));
    for (const TensorPair& pair : paired.pairs) {
      if (pair.equal || !pair.distance) continue;
      double& floor = floors.tensors[pair.name];
      floor = std::max(floor, *pair.distance);
    }
  }
  ForEachStepOfBoth(a, b, [&](const ComparedStep& x, const ComparedStep& y) {
    const auto at = steps.find(x.step);
    if (at == steps.end() || !x.loss || !y.loss) return;
    const double share =
        std::fabs(*x.loss - *y.loss) / std::max(std::fabs(*x.loss), 1e-12);
    if (std::isfinite(share))
      at->second.loss = std::max(at->second.loss, share);
  });
}

const StepFloors* Floors::At(int64_t step) const {
  const auto after = steps.upper_bound(step);
  return after == steps.begin() ? nullptr : &std::prev(after)->second;
}

void Floors::Apply(PairedStep* paired) const {
  const StepFloors* floors = At(paired->step);
  if (floors == nullptr) return;
  for (TensorPair& pair : paired->pairs) {
    const auto at = floors->tensors.find(pair.name);
    if (at != floors->tensors.end()) pair.usual = at->second;
  }
}

double Floors::LossAt(int64_t step) const {
  const StepFloors* floors = At(step);
  return floors == nullptr ? 0 : floors->loss;
}

}  // namespace nanwatch
