// What of a program is not the same at each repeat of it: ops that made
// something else of the same bits.

#ifndef NANWATCH_COMPARE_UNSTEADY_OPS_H_
#define NANWATCH_COMPARE_UNSTEADY_OPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/compared_run.h"
#include "compare/tensor_pair.h"

namespace nanwatch {

struct UnsteadyOp {
  std::string op;
  std::string type;
  Phase phase = Phase::kForward;
  // In a function before it, which no module is.
  bool before = false;
  std::optional<double> distance;  // the largest, as a share of a norm
};

struct UnsteadyOps {
  // Of which anything differs first; absent: nothing does.
  std::optional<int64_t> step;
  std::vector<UnsteadyOp> ops;
};

// Of two repeats of one program. Only the first step that differs is looked at:
// from there on the weights do.
UnsteadyOps FindUnsteadyOps(const ComparedRun& a, const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_UNSTEADY_OPS_H_
