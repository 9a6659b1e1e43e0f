// StepExtent: the lowest and the highest step of a batch.

#ifndef NANWATCH_MODEL_STEP_EXTENT_H_
#define NANWATCH_MODEL_STEP_EXTENT_H_

#include <algorithm>
#include <cstdint>

#include "model/op.h"
#include "model/step.h"

namespace nanwatch {

// Of a batch without rows both are 0.
struct StepExtent {
  int64_t first = 0;
  int64_t last = 0;
};

inline StepExtent ExtentOf(const StepColumns& steps) {
  if (steps.step.empty()) return {};
  const auto [first, last] = std::ranges::minmax(steps.step);
  return {first, last};
}

inline StepExtent ExtentOf(const OpColumns& ops) {
  if (ops.groups.empty()) return {};
  const auto [first, last] =
      std::ranges::minmax(ops.groups, {}, &OpGroup::step);
  return {first.step, last.step};
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_STEP_EXTENT_H_
