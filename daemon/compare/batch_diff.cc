#include "compare/batch_diff.h"

#include <algorithm>
#include <cstdlib>

#include "compare/steps_of_both.h"

namespace nanwatch {

BatchDiff DiffBatches(const ComparedRun& a, const ComparedRun& b) {
  BatchDiff diff;
  uint64_t wanted = 0;
  ForEachStepOfBoth(a, b, [&](const ComparedStep& x, const ComparedStep& y) {
    if (!x.batch || !y.batch) return;
    ++diff.steps;
    if (diff.first_step || *x.batch == *y.batch) return;
    diff.first_step = x.step;
    wanted = *y.batch;
  });
  if (!diff.first_step) return diff;
  std::optional<int64_t> first_of_a;
  for (const ComparedStep& step : a.steps) {
    if (step.batch && !first_of_a) first_of_a = step.step;
    if (step.batch != wanted) continue;
    const int64_t off = step.step - *diff.first_step;
    if (!diff.shift || std::abs(off) < std::abs(*diff.shift)) diff.shift = off;
  }
  diff.begins_anew = diff.shift && *diff.shift < 0 &&
                     *diff.first_step + *diff.shift == *first_of_a;
  return diff;
}

}  // namespace nanwatch
