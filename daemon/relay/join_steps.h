// JoinSteps: the parts of one batch, which admission split where its steps went
// back, are the batch again.

#ifndef NANWATCH_RELAY_JOIN_STEPS_H_
#define NANWATCH_RELAY_JOIN_STEPS_H_

#include "model/step.h"

namespace nanwatch {

// Appends the rows of `part`, which has the same columns.
void JoinSteps(const StepColumns& part, StepColumns* whole);

}  // namespace nanwatch

#endif  // NANWATCH_RELAY_JOIN_STEPS_H_
