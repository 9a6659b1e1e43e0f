// HasOtherObjective: whether a series left its level where the objective became
// another one, as where the weight of a term moved. What it rises by then is
// neither news nor trouble.

#ifndef NANWATCH_DETECT_OTHER_OBJECTIVE_H_
#define NANWATCH_DETECT_OTHER_OBJECTIVE_H_

#include <cstdint>

#include "detect/program.h"
#include "detect/series.h"

namespace nanwatch {

// `gap`: steps from one record to the next.
inline bool HasOtherObjective(const RunDescription& run, const Series& s,
                              int64_t gap) {
  constexpr float kOfWeights = 3;  // ln 20, of a rise that they make; ours
  constexpr int64_t kLate = 8;     // records that a move is seen before; ours
  const int64_t step = s.excursion().step();
  return s.rise() < kOfWeights && ObjectiveMoved(run, step - kLate * gap, step);
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OTHER_OBJECTIVE_H_
