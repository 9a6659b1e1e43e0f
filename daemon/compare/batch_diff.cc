#include "compare/batch_diff.h"

#include <algorithm>
#include <cstdlib>

#include "compare/steps_of_both.h"

namespace nanwatch {
namespace {

// One whose digests are too seldom to have the step's own in both runs has its
// first batches' all the same.
const ComparedStep* FirstWithBatch(const ComparedRun& run) {
  const auto found = std::ranges::find_if(
      run.steps,
      [](const ComparedStep& step) { return step.batch.has_value(); });
  return found == run.steps.end() ? nullptr : &*found;
}

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
  const ComparedStep* first_of_a = FirstWithBatch(a);
  for (const ComparedStep& step : a.steps) {
    if (!step.batch || *step.batch != wanted) continue;
    const int64_t off = step.step - *diff.first_step;
    if (!diff.shift || std::abs(off) < std::abs(*diff.shift)) diff.shift = off;
  }
  if (!diff.shift || *diff.shift >= 0) return diff;
  const ComparedStep& first_of_b = *FirstWithBatch(b);
  diff.begins_anew = wanted == *first_of_a->batch ||
                     (first_of_b.batch == first_of_a->batch &&
                      first_of_b.step + *diff.shift == first_of_a->step);
  return diff;
}

}  // namespace nanwatch
