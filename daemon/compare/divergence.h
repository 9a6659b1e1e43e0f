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
  kCollective,    // gradients of ranks, reduced
  kOptimizer,     // equal gradients and rates, unequal weights
  kBetweenSteps,  // where no tensors are recorded
  kUnordered,     // of a dump that does not say what came first
  // Of a dump: what an op gets, which nothing made that the dump shows.
  kOtherInput,
  // A gradient of a weight, where nothing before it was compared.
  kBeforeGradients
};
inline constexpr int kDivergenceClasses = 14;
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
  // The distance is the least that it can be, and of elements that are not
  // finite only whether there are any is known.
  bool by_statistics = false;
  std::optional<double> distance;          // as a share of its norm
  std::optional<double> value_a, value_b;  // of a single number of a dump
  // Elements of the tensor in A and in B; absent: not counted.
  std::optional<uint64_t> nan_a, nan_b;
  std::optional<uint64_t> inf_a, inf_b;
  bool input_known = false;  // of the op: it was compared, and agrees
  double floor = 0;          // what is usual there, at most
  size_t equal_before = 0;   // tensors, at this step
  size_t within_before = 0;
  size_t beyond = 0;  // kUnordered: tensors that differ by more than is usual
  // Of gradients' norms: the farthest apart of those that follow.
  std::string farthest_op;
  double farthest = 0;
  // kBetweenSteps, and of a schedule: the last step at which all was well.
  std::optional<int64_t> known_equal;
};

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_DIVERGENCE_H_
