// The steps of which two runs both have tensors, and a run's tensors of one.

#ifndef NANWATCH_COMPARE_TENSOR_STEPS_H_
#define NANWATCH_COMPARE_TENSOR_STEPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "compare/compared_run.h"

namespace nanwatch {

std::span<const ComparedTensor> TensorsOf(const ComparedRun& run, int64_t step);
std::vector<int64_t> TensorStepsOfBoth(const ComparedRun& a,
                                       const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_TENSOR_STEPS_H_
