// What a detector is given. A rule has exactly one of OnStep, OnOp, OnAligned,
// OnTime and sees nothing but its context, its thresholds and its own members.

#ifndef NANWATCH_DETECT_CONTEXT_H_
#define NANWATCH_DETECT_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"
#include "model/op.h"
#include "model/rank.h"
#include "model/run.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Resolved thresholds of one rule, in the order of its RuleSpec.
struct Thresholds {
  const double* values = nullptr;
  double operator[](int index) const { return values[index]; }
};

// What the op statuses of one rank and step say together. Op statuses of a step
// travel before the step's record and are judged with it.
struct StepOps {
  uint32_t bad_ops = 0;  // ops with a bad element or a device flag
  int32_t origin = -1;   // op index of the first bad output whose inputs
                         // are not known to be bad; -1: none
  bool forward_nonfinite = false;  // NaN or Inf in a forward input or output
};

// OnStep: one record of one rank and optimizer.
struct StepContext {
  const RunDescription& run;
  const StepRecord& record;
  const ScalerTracker& scaler;  // has seen `record`
  const StepOps& ops;
};

// OnOp: one interesting status (bad, near the limit, or of an op that a rule
// has state on), together with the step record that it belongs to.
enum class InputState : uint8_t { kNotCollected, kClean, kBad };
struct OpContext {
  const RunDescription& run;
  const OpName& op;
  const OpStatus& status;
  InputState inputs;         // of the same op, pass and step
  const StepRecord* record;  // null: op statuses without step records
  const ScalerTracker& scaler;
  int64_t attempt;  // optimizer attempts of the rank so far
};

// OnAligned: one step (n-th try) of all ranks of an agreement group.
struct AlignedStep {
  int64_t step = 0;
  int32_t attempt_of_step = 0;  // 0: first try of this step number
  AgreementGroup group;
  int32_t expected = 0;  // open ranks of the group
  int32_t seen = 0;      // of those, with a record here
  // Loss scale over ranks that reported one.
  int32_t scales = 0;
  double scale_min = 0;
  double scale_max = 0;
  int32_t scale_min_rank = -1;
  int32_t scale_max_rank = -1;
  // Skip decision over ranks that reported one.
  int32_t skipped = 0;
  int32_t applied = 0;
  int32_t first_skipped_rank = -1;
  int32_t first_applied_rank = -1;
};
struct AlignedContext {
  const RunDescription& run;
  const AlignedStep& step;
};

// OnTime: the state of a run at `now`, judged once a second of engine time.
struct RankPulse {
  int32_t rank = 0;
  bool connected = false;  // false: lost
  Time last_record{};      // epoch: none yet
  int64_t last_step = 0;
  uint64_t dropped_steps = 0;  // ever
  uint64_t dropped_ops = 0;
};
struct TimeContext {
  const RunDescription& run;
  Time now;
  Time opened;
  std::span<const RankPulse> ranks;  // open and lost ones, by rank
  int64_t last_step;                 // of the run
  double step_seconds_p99;           // 0: unknown
  double step_seconds_mean;          // 0: unknown
  int32_t ranks_opened = 0;          // ever, closed ones too; 0: not counted
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_CONTEXT_H_
