// Stretches of steps as the settings of a run have them: "600-700 1200-1200".

#ifndef NANWATCH_MODEL_STEP_STRETCHES_H_
#define NANWATCH_MODEL_STEP_STRETCHES_H_

#include <cstdint>
#include <string>

namespace nanwatch {

// Adds one, both steps included. Where it begins within the newest or at its
// end, that goes on. The oldest of many are left out.
// REQUIRES: 0 <= from <= to, and `told` was made by this.
void AddStretch(int64_t from, int64_t to, std::string* told);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_STEP_STRETCHES_H_
