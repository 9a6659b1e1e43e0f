// How far single values of a series lie from its course.

#ifndef NANWATCH_ENGINE_COURSE_NOISE_H_
#define NANWATCH_ENGINE_COURSE_NOISE_H_

#include <span>

namespace nanwatch {

// Returns the deviation of a value from the line through `y` where the series
// is drawn anew. That is more than `y` shows where neighbours are alike: losses
// that a program smooths begin as rough ones at a restart. 0: too few values.
double CourseNoise(std::span<const double> y);

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_COURSE_NOISE_H_
