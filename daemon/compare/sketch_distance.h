// What two sketches say of the distance of their tensors.

#ifndef NANWATCH_COMPARE_SKETCH_DISTANCE_H_
#define NANWATCH_COMPARE_SKETCH_DISTANCE_H_

#include "compare/compared_run.h"

namespace nanwatch {

// One standard deviation of an estimate's share: 1 / sqrt(2 * 16).
inline constexpr double kSketchSpread = 0.177;

// Of the tensor.
double NormOf(const SketchValues& sketch);
// Of the tensors' difference.
double DistanceOf(const SketchValues& a, const SketchValues& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_SKETCH_DISTANCE_H_
