// What to do about a NaN that a backward pass makes, with a scaler or without.

#ifndef NANWATCH_DIAGNOSE_INFINITE_SLOPE_H_
#define NANWATCH_DIAGNOSE_INFINITE_SLOPE_H_

#include "model/diagnosis.h"

namespace nanwatch {

inline Action LookForInfiniteSlope() {
  return {
      "",
      "On the way back from the loss, look for an op whose value is finite and "
      "whose slope is infinite: sqrt, norm or pow at 0, a division or a log at "
      "its edge. Add an epsilon inside it, or mask its input; a mask on its "
      "result comes too late."};
}

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_INFINITE_SLOPE_H_
