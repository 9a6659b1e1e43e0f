// The steps that two runs have both.

#ifndef NANWATCH_COMPARE_STEPS_OF_BOTH_H_
#define NANWATCH_COMPARE_STEPS_OF_BOTH_H_

#include <cstddef>

#include "compare/compared_run.h"

namespace nanwatch {

// Calls `visit` with both runs' records of each step, rising.
template <typename Visit>
void ForEachStepOfBoth(const ComparedRun& a, const ComparedRun& b,
                       const Visit& visit) {
  size_t j = 0;
  for (const ComparedStep& step : a.steps) {
    while (j < b.steps.size() && b.steps[j].step < step.step) ++j;
    if (j == b.steps.size()) return;
    if (b.steps[j].step == step.step) visit(step, b.steps[j]);
  }
}

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_STEPS_OF_BOTH_H_
