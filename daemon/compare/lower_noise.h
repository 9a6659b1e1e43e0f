// What a lower format alone does to the tensors of two runs, and which of them
// lie farther apart.

#ifndef NANWATCH_COMPARE_LOWER_NOISE_H_
#define NANWATCH_COMPARE_LOWER_NOISE_H_

#include <vector>

#include "compare/paired_steps.h"

namespace nanwatch {

// Returns of each pair of the step at hand how many times what is usual it lies
// apart: above 1 it is beyond. A format's roundings are drawn anew at each
// step, and a fault stands at the same op in each: so all steps of `near`
// count. 0: it is equal, or could not be compared.
std::vector<double> LowerExcesses(const StepAndNear& near);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_LOWER_NOISE_H_
