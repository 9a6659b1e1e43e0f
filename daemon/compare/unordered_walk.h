// The tensors of a step of a dump whose names do not say which of them was made
// first: each stands alone.

#ifndef NANWATCH_COMPARE_UNORDERED_WALK_H_
#define NANWATCH_COMPARE_UNORDERED_WALK_H_

#include "compare/step_walk.h"

namespace nanwatch {

// first_beyond is the one that exceeds what is usual by most. `lowest` as of
// Walk.
WalkedStep WalkUnordered(const PairedStep& step, double lowest);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_UNORDERED_WALK_H_
