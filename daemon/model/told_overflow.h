// What a step record tells of an overflow.

#ifndef NANWATCH_MODEL_TOLD_OVERFLOW_H_
#define NANWATCH_MODEL_TOLD_OVERFLOW_H_

#include "model/step.h"

namespace nanwatch {

// True when the framework found it, or the device's float status says it.
inline bool Overflowed(const StepRecord& record) {
  return record.is(StepFlag::kOverflow) ||
         (record.float_status != nullptr && record.float_status->words[0] != 0);
}

// Whether it overflowed was collected.
inline bool SaysOverflow(const StepRecord& record) {
  return record.is(StepFlag::kOverflow) || record.is_not(StepFlag::kOverflow) ||
         record.float_status != nullptr;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_TOLD_OVERFLOW_H_
