// From which step on two runs train on other data, and whether it is the same
// data some steps off.

#ifndef NANWATCH_COMPARE_BATCH_DIFF_H_
#define NANWATCH_COMPARE_BATCH_DIFF_H_

#include <cstdint>
#include <optional>

#include "compare/compared_run.h"

namespace nanwatch {

struct BatchDiff {
  size_t steps = 0;  // that both have a digest of
  std::optional<int64_t> first_step;
  // b's batch of the first step is a's so many steps later, of several the
  // nearest; absent: a has none like it.
  std::optional<int64_t> shift;
  // It is the first one that a has: b takes its data from the start.
  bool begins_anew = false;
};

BatchDiff DiffBatches(const ComparedRun& a, const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_BATCH_DIFF_H_
