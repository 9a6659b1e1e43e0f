// RunningMean: whether a loss that a bar shows is a mean over all steps so far,
// by its name, and of so few that it says nothing of a level: each step moves
// it by 1/n of what one batch is off.

#ifndef NANWATCH_LOGS_RUNNING_MEAN_H_
#define NANWATCH_LOGS_RUNNING_MEAN_H_

#include <cstdint>

#include "logs/fact.h"

namespace nanwatch {

class RunningMean {
 public:
  // Takes in the log's next step line with a loss.
  bool IsOfFew(const LogFact& fact);

 private:
  static constexpr int64_t kFew = 32;   // steps; ours
  static constexpr int64_t kFirst = 8;  // the same, that move it most; ours

  bool over_ = false;  // it is no such mean, or of enough
  int64_t step_ = 0;   // of the newest
  double newest_ = 0;
  double first_ = 0;  // how far the first steps moved it
  double next_ = 0;   // and as many behind them
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RUNNING_MEAN_H_
