// Ops whose gradient has no jumps.

#ifndef NANWATCH_COMPARE_SMOOTH_OPS_H_
#define NANWATCH_COMPARE_SMOOTH_OPS_H_

#include <string_view>

namespace nanwatch {

// `type`: of an op of the forward or of the backward pass. A type that is not
// known may have a ReLU, or take the largest, within.
bool IsSmooth(std::string_view type);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_SMOOTH_OPS_H_
