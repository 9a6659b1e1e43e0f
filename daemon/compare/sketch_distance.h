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

// The sum of the tensors' difference that stands out most.
struct Outlier {
  double times = 0;  // the root mean square of the others
  double share = 0;  // of a's sum at the same place
};
Outlier OutlierOfDifference(const SketchValues& a, const SketchValues& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_SKETCH_DISTANCE_H_
