// TensorPair: the same tensor of two runs at one step, and the pairs of a step
// in the order of causes.

#ifndef NANWATCH_COMPARE_TENSOR_PAIR_H_
#define NANWATCH_COMPARE_TENSOR_PAIR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "compare/compared_run.h"

namespace nanwatch {

// Half a last bit of fp32.
inline constexpr double kFp32 = 0x1p-24;

// In the order in which one follows from the other.
enum class Phase : uint8_t {
  kWeights,  // before the update
  kBatch,
  kForward,
  kBackward,
  kGradients,  // of weights, before they are clipped
  kUpdate,     // what the optimizer makes of them
};
inline constexpr int kPhases = 6;

// By which a tensor is found in another run: its op, without what wrappers put
// before its name, the op's type, the slot and the place there.
using TensorName = std::tuple<std::string, std::string, Slot, uint32_t>;

struct TensorPair {
  TensorName name;
  Phase phase = Phase::kForward;
  const ComparedTensor* a = nullptr;
  const ComparedTensor* b = nullptr;
  const OpName* op = nullptr;  // a's
  bool other_shape = false;
  double epsilon = 0;  // of the coarser format of the two: its last half bit
  // ||a - b|| / ||a||, over finite elements; absent: there is a sketch of one
  // of them at most, or they differ in how many elements are finite. 0 only
  // where all bits are equal.
  std::optional<double> distance;
  bool equal = false;  // to the bit, or in all statistics
  // One of them has no bits: the distance is the least that it can be.
  bool by_statistics = false;
  // NaN or infinite elements in one of the two alone.
  bool other_specials = false;
  // How far repeats of one program lie apart there; 0: not measured.
  double usual = 0;
};

struct PairedStep {
  int64_t step = 0;
  bool ordered = true;  // false: nobody knows what came first
  // Of the coarsest format that one of them computes in: its last half bit.
  double epsilon = 0;
  std::vector<TensorPair> pairs;  // by phase, then as a executed them
  size_t only_a = 0;              // tensors that the other run does not have
  size_t only_b = 0;
  // That both have, in numbers that cannot be compared.
  size_t incomparable = 0;
};

// Returns the names of tensors of `run`.
std::vector<TensorName> NamesOf(const ComparedRun& run,
                                std::span<const ComparedTensor> tensors);
// The tensors of one step of each run.
PairedStep PairTensors(const ComparedRun& a,
                       std::span<const ComparedTensor> of_a,
                       const ComparedRun& b,
                       std::span<const ComparedTensor> of_b);
// Returns whether the bits, or else the statistics, are equal; nullopt: there
// is nothing that both have.
std::optional<bool> HaveEqualValues(const ComparedTensor& a,
                                    const ComparedTensor& b);
// Returns true where both were counted, and one has none.
bool IsOfOneAlone(const std::optional<uint64_t>& a,
                  const std::optional<uint64_t>& b);
// Half of the distance of two numbers next to 1; of an unknown one as of fp32.
double EpsilonOf(Dtype dtype);
// Of what the run says that it computes in; unknown: as of fp32, and of a log's
// numbers as of bf16, so that no healthy pair is accused.
double EpsilonOf(const ComparedRun& run);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_TENSOR_PAIR_H_
