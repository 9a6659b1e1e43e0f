// The overflows of two runs: of what device checks and the elements of outputs
// say, which of B's its benchmark A has not.

#ifndef NANWATCH_COMPARE_OVERFLOW_DIFF_H_
#define NANWATCH_COMPARE_OVERFLOW_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compare/compared_run.h"
#include "model/severity.h"

namespace nanwatch {

// What the benchmark says of an op that overflowed at the same step.
enum class OpBeside : uint8_t {
  kUnknown,    // nothing: neither its output nor a device's check is there
  kNearLimit,  // finite, and next to what the other's format can hold
  kClean,      // it did not overflow
};
std::string_view Name(OpBeside beside);

struct OverflowBeside {
  DeviceOverflow overflow;
  OpBeside in_a = OpBeside::kUnknown;
};

struct OverflowDiff {
  size_t both = 0;
  std::vector<DeviceOverflow> only_a;  // by step; of device checks
  std::vector<OverflowBeside> only_b;  // by step
  // Of those that are clean in A: the steps, and how many of these steps'
  // updates B left out.
  size_t abnormal_steps = 0;
  size_t updates_lost = 0;

  bool abnormal() const { return abnormal_steps > 0; }
  bool any() const { return both + only_a.size() + only_b.size() > 0; }
};

// Returns the first that is clean in A, else the first one; null: B has none of
// its own.
const OverflowBeside* WorstOf(const OverflowDiff& diff);
// Warning: an overflow that is clean in A, or of which A says nothing.
// Critical: B lost many updates at such steps. Info: one next to the limit.
Severity SeverityOf(const OverflowDiff& diff);

// Overflows of one op and step are the same, whatever unit found them.
OverflowDiff DiffOverflows(const ComparedRun& a, const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_OVERFLOW_DIFF_H_
