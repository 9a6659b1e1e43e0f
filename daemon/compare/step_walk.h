// The walk through the tensors of one step, in the order of causes, to the
// first that lies farther apart than what it was made of explains.

#ifndef NANWATCH_COMPARE_STEP_WALK_H_
#define NANWATCH_COMPARE_STEP_WALK_H_

#include <cstddef>
#include <optional>

#include "compare/tensor_pair.h"

namespace nanwatch {

struct WalkedStep {
  // Into PairedStep::pairs; absent: all are within.
  std::optional<size_t> first_beyond;
  // The first one that is not equal to the bit; absent: all are.
  std::optional<size_t> first_unequal;
  size_t equal = 0;    // to the bit, before the first beyond
  size_t within = 0;   // not equal, and no farther apart than is usual
  size_t unknown = 0;  // that could not be compared, before the first beyond
  // The data has another shape: a rank's share, or a part that is accumulated.
  bool other_layout = false;
  // What the first one beyond exceeds; else the most that one had to exceed.
  double floor = 0;
  // The farthest that what is within lies apart.
  double noise = 0;
};

// `fresh`: no update was made yet, so the weights must be equal. Else weights
// are no witnesses, where gradients were not equal to the bit before: an
// optimizer makes whole steps of tiny gradients' signs. `same_before`: all was,
// at the step before this one.
// `lowest`: the coarsest epsilon of what the runs say that they compute in.
WalkedStep Walk(const PairedStep& step, double lowest, bool fresh,
                bool same_before);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_STEP_WALK_H_
