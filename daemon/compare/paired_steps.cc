#include "compare/paired_steps.h"

#include <algorithm>

#include "compare/tensor_steps.h"

namespace nanwatch {
namespace {

// The median of so many is no luck of one sketch.
constexpr size_t kTogether = 3;

}  // namespace

PairedSteps::PairedSteps(const ComparedRun& a, const ComparedRun& b,
                         const Floors* floors)
    : a_(a), b_(b), floors_(floors), steps_(TensorStepsOfBoth(a, b)) {}

StepAndNear PairedSteps::At(size_t index) {
  const size_t count = std::min(kTogether, steps_.size());
  const size_t first = std::min(index, steps_.size() - count);
  const size_t passed = std::min(first - first_, held_.size());
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(passed));
  apart_.erase(apart_.begin(), apart_.begin() + static_cast<ptrdiff_t>(passed));
  first_ = first;
  while (held_.size() < count) {
    const int64_t step = steps_[first + held_.size()];
    held_.push_back(
        PairTensors(a_, TensorsOf(a_, step), b_, TensorsOf(b_, step)));
    PairedStep& paired = held_.back();
    if (floors_ != nullptr) floors_->Apply(&paired);
    apart_.push_back(paired.epsilon > kFp32 ? ApartInLower(paired)
                                            : std::vector<LowerApart>());
  }
  return {held_, apart_, index - first};
}

}  // namespace nanwatch
