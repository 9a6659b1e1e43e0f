// StepSlice: rows of a batch as a batch of their own, where its steps go back
// behind what the rank had finished.

#ifndef NANWATCH_ENGINE_STEP_SLICE_H_
#define NANWATCH_ENGINE_STEP_SLICE_H_

#include <cstddef>

#include "model/step.h"

namespace nanwatch {

// Copies rows [from, to). REQUIRES: from <= to <= columns.rows().
StepColumns SliceRows(const StepColumns& columns, size_t from, size_t to);

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_STEP_SLICE_H_
