// Overflows that a benchmark has as well, at the same op and step: they are
// usual. What is left is abnormal.

#ifndef NANWATCH_COMPARE_USUAL_OVERFLOW_H_
#define NANWATCH_COMPARE_USUAL_OVERFLOW_H_

#include <cstddef>

#include "compare/compared_run.h"

namespace nanwatch {

struct UsualOverflows {
  size_t tensors = 0;  // left out of the run
  size_t devices = 0;  // the same, of the device's own check
  // Tensors with NaN or infinities that the benchmark does not have.
  size_t unmatched = 0;
};

// Takes tensors out of `run` that hold NaN or infinities, where those of the
// same op, slot, place and step in the benchmark do, too; and overflows that
// both devices found.
UsualOverflows LeaveOutUsual(const ComparedRun& benchmark, ComparedRun* run);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_USUAL_OVERFLOW_H_
