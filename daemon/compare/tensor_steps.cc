#include "compare/tensor_steps.h"

#include <algorithm>

namespace nanwatch {

std::span<const ComparedTensor> TensorsOf(const ComparedRun& run,
                                          int64_t step) {
  const auto [begin, end] = std::equal_range(
      run.tensors.begin(), run.tensors.end(), ComparedTensor{.step = step},
      [](const ComparedTensor& a, const ComparedTensor& b) {
        return a.step < b.step;
      });
  return {begin, end};
}

std::vector<int64_t> TensorStepsOfBoth(const ComparedRun& a,
                                       const ComparedRun& b) {
  std::vector<int64_t> steps;
  for (const ComparedTensor& tensor : a.tensors) {
    if (!steps.empty() && steps.back() == tensor.step) continue;
    if (!TensorsOf(b, tensor.step).empty()) steps.push_back(tensor.step);
  }
  return steps;
}

}  // namespace nanwatch
