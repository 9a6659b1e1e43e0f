#include "compare/batch_diff.h"

#include <algorithm>
#include <cstdlib>

#include "compare/steps_of_both.h"

namespace nanwatch {
namespace {

constexpr int64_t kFarthest = 64;  // steps

}  // namespace

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
  for (const ComparedStep& step : a.steps) {
    const int64_t off = step.step - *diff.first_step;
    if (std::abs(off) > kFarthest || step.batch != wanted) continue;
    if (!diff.shift || std::abs(off) < std::abs(*diff.shift)) diff.shift = off;
  }
  return diff;
}

}  // namespace nanwatch
