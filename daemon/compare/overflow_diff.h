// The overflows that devices found in two runs, which dumps say.

#ifndef NANWATCH_COMPARE_OVERFLOW_DIFF_H_
#define NANWATCH_COMPARE_OVERFLOW_DIFF_H_

#include <vector>

#include "compare/compared_run.h"

namespace nanwatch {

struct OverflowDiff {
  size_t both = 0;
  std::vector<DeviceOverflow> only_a;  // by step
  std::vector<DeviceOverflow> only_b;
};

// Those of one op, step and unit of the device are the same.
OverflowDiff DiffOverflows(const ComparedRun& a, const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_OVERFLOW_DIFF_H_
