// Divergence: where two runs part, and what parts them.

#ifndef NANWATCH_COMPARE_DIVERGENCE_H_
#define NANWATCH_COMPARE_DIVERGENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/tensor_pair.h"

namespace nanwatch {

enum class DivergenceClass : uint8_t {
  kOtherWeights,       // they begin with others
  kOtherData,          // they train on other batches
  kOtherSeed,          // of an op that draws random numbers
  kOtherSchedule,      // the learning rates differ
  kDivergentOp,        // forward: equal inputs, unequal outputs
  kDivergentFunction,  // forward, between two modules that are seen
  kDivergentLoss,      // equal outputs of the model, unequal losses
  kDivergentBackward,
  kCollective,   // gradients of ranks, reduced
  kOptimizer,    // equal gradients and rates, unequal weights
  kBetweenSteps  // where no tensors are recorded
};
inline constexpr int kDivergenceClasses = 11;
std::string_view Name(DivergenceClass kind);  // "other_weights", ...

struct Divergence {
  DivergenceClass kind = DivergenceClass::kDivergentOp;
  int64_t step = 0;
  // The tensor: empty where it is none.
  std::string op;
  std::string type;
  Dtype dtype = Dtype::kUnknown;
  Slot slot = Slot::kOutput;
  Phase phase = Phase::kForward;
  bool other_shape = false;
  std::optional<double> distance;  // as a share of its norm
  // Elements of the tensor in A and in B; absent: not counted.
  std::optional<uint64_t> nan_a, nan_b;
  std::optional<uint64_t> inf_a, inf_b;
  double floor = 0;         // what is usual there, at most
  size_t equal_before = 0;  // tensors, at this step
  size_t within_before = 0;
  // kBetweenSteps, and of a schedule: the last step at which all was well.
  std::optional<int64_t> known_equal;
};

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_DIVERGENCE_H_
