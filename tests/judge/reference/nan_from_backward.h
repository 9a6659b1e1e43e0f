// NaN born in the backward pass of a run that scales no loss: its loss was
// finite at that step, and gradients were not. With a scaler this is what
// overflows look like, and the scale tells more.

#ifndef NANWATCH_TESTS_JUDGE_REFERENCE_NAN_FROM_BACKWARD_H_
#define NANWATCH_TESTS_JUDGE_REFERENCE_NAN_FROM_BACKWARD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/judge/reference/causes.h"

namespace nanwatch::reference {

// NanFromBackward(), of causes.h, is made of these.
struct BackwardNan {
  int64_t step = 0;
  // Gradients of that step that hold NaN, of those that were told; the one it
  // is laid to comes first. Empty: only the norm is known.
  std::vector<const OpEvidence*> gradients;
};

// nullopt: none is seen, or another trouble came before it.
std::optional<BackwardNan> FindBackwardNan(const Case& c);

// What to do about it, with a scaler or without.
Action LookForInfiniteSlope();

}  // namespace nanwatch::reference

#endif  // NANWATCH_TESTS_JUDGE_REFERENCE_NAN_FROM_BACKWARD_H_
