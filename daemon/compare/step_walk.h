// The walk through the tensors of one step, in the order of causes: which lie
// farther apart than what they were made of explains.

#ifndef NANWATCH_COMPARE_STEP_WALK_H_
#define NANWATCH_COMPARE_STEP_WALK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compare/paired_steps.h"
#include "compare/tensor_pair.h"

namespace nanwatch {

struct WalkedStep {
  // Into PairedStep::pairs; absent: all are within.
  std::optional<size_t> first_beyond;
  // The first one that is not equal to the bit; absent: all are.
  std::optional<size_t> first_unequal;
  size_t equal = 0;   // to the bit, before the first beyond
  size_t within = 0;  // not equal, and no farther apart than is usual
  size_t beyond = 0;  // counted where there is no order
  // The data has another shape: a rank's share, or a part that is accumulated.
  bool other_layout = false;
  // What the first one beyond exceeds; else the most that one had to exceed, of
  // gradients only where there is nothing else.
  double floor = 0;
  double gradient_floor = 0;  // of gradients, where none is beyond
  // The farthest that what is within lies apart.
  double noise = 0;
};

// How a pair stands in the walk.
enum class Standing : uint8_t {
  kEqual,    // to the bit
  kWithin,   // no farther apart than is usual
  kUnknown,  // it could not be compared
  kBeyond,
};
struct WalkedPair {
  Standing standing = Standing::kEqual;
  double floor = 0;  // how far apart is usual there, at most
};

struct WalkStart {
  // No update was made yet, so the weights must be equal. Else weights are no
  // witnesses, where gradients were not equal to the bit before: an optimizer
  // makes whole steps of tiny gradients' signs.
  bool fresh = false;
  // All was, at the step before this one.
  bool same_before = false;
};

// Walks through all pairs. What is beyond does not count as noise: what follows
// from it is beyond, too.
std::vector<WalkedPair> WalkThrough(const StepAndNear& near,
                                    const WalkStart& start);
// Walks to the first pair that is beyond.
WalkedStep Walk(const StepAndNear& near, const WalkStart& start);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_STEP_WALK_H_
