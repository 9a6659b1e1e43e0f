// What of a program is not the same at each repeat of it: what made other bits
// of the same bits.

#ifndef NANWATCH_COMPARE_UNSTEADY_OPS_H_
#define NANWATCH_COMPARE_UNSTEADY_OPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compared_run.h"

namespace nanwatch {

enum class UnsteadyKind : uint8_t {
  kWeights,           // with which the program begins
  kData,              // of a step
  kOp,                // forward: of equal inputs it makes other outputs
  kFunction,          // forward: in the code before a module
  kLoss,              // or its gradient, of equal outputs of the model
  kBackward,          // of an op
  kBackwardFunction,  // in the code whose gradient arrives at a module
  kGradient,          // of a weight
  kUpdate,            // of weights, by the optimizer
  kBetween            // of steps at which no tensors are recorded
};
inline constexpr int kUnsteadyKinds = 10;
std::string_view Name(UnsteadyKind kind);  // "weights", "data", "op", ...

struct Unsteady {
  UnsteadyKind kind = UnsteadyKind::kOp;
  std::string op;     // empty: none is known
  std::string type;   // the module's class
  std::string after;  // kFunction: the module before it; may be empty
  std::optional<double> distance;  // the largest, as a share of a norm
  size_t tensors = 1;              // that it makes otherwise
};

struct UnsteadyOps {
  // At which anything differs first; absent: nothing does.
  std::optional<int64_t> step;
  std::vector<Unsteady> ops;  // in the order of causes
};

// Of two repeats of one program. Only the first step that differs is looked at:
// from there on the weights do.
UnsteadyOps FindUnsteadyOps(const ComparedRun& a, const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_UNSTEADY_OPS_H_
