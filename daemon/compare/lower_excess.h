// Which tensors lie farther apart than a lower format alone moves them.

#ifndef NANWATCH_COMPARE_LOWER_EXCESS_H_
#define NANWATCH_COMPARE_LOWER_EXCESS_H_

#include <vector>

#include "compare/paired_steps.h"

namespace nanwatch {

// Returns of each pair of the step how many times what is usual it lies apart:
// above 1 it is beyond. A format's roundings are drawn anew at each step, and a
// fault stands at the same op in each: so the steps beside it count, too.
std::vector<double> LowerExcesses(const StepAndNear& near);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_LOWER_EXCESS_H_
