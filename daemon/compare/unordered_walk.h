// The tensors of a step of a dump whose names do not say which of them was made
// first: each stands alone.

#ifndef NANWATCH_COMPARE_UNORDERED_WALK_H_
#define NANWATCH_COMPARE_UNORDERED_WALK_H_

#include "compare/step_walk.h"

namespace nanwatch {

// first_beyond is the one that exceeds what is usual by most.
WalkedStep WalkUnordered(const PairedStep& step);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_UNORDERED_WALK_H_
