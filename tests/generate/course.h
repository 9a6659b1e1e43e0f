// Course: healthy losses that go other ways than down: stages, terms that
// switch on, folds, epochs as means, logs of a few lines, checkpoints that go
// on, rewards that grow, and two optimizers against each other.

#ifndef NANWATCH_TESTS_GENERATE_COURSE_H_
#define NANWATCH_TESTS_GENERATE_COURSE_H_

#include <cstdint>

#include "tests/generate/record.h"

namespace nanwatch::generate {

inline constexpr int kCourses = 10;

// Returns a healthy run of the course `seed % kCourses`, of so many records.
Story HealthyCourse(uint64_t seed, int64_t records);

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_COURSE_H_
