// EpochLines: steps for lines that show an epoch and no step. Laps: epochs for
// lines that show a step of so many, "[640/60000]", and no epoch.

#ifndef NANWATCH_LOGS_EPOCH_LINES_H_
#define NANWATCH_LOGS_EPOCH_LINES_H_

#include <cstdint>

namespace nanwatch {

// A line an epoch: its step is the epoch. Where an epoch has several lines,
// they are counted.
class EpochLines {
 public:
  // `*counted`: the step is no number of the line's.
  int64_t Step(int64_t epoch, bool* counted) {
    if (!several_ && epoch != epoch_) {
      epoch_ = epoch;
      step_ = epoch;
      return step_;
    }
    several_ = true;
    *counted = true;
    return ++step_;
  }

 private:
  int64_t epoch_ = -1;
  int64_t step_ = 0;
  bool several_ = false;
};

// Steps that begin anew behind the last of so many are the next epoch's; that
// go back before, a run's that began again.
class Laps {
 public:
  // Of the line's step, from 0.
  int64_t Epoch(int64_t step, int64_t whole) {
    if (whole != whole_) {
      whole_ = whole;
      stride_ = 0;
    } else if (step > step_) {
      stride_ = step - step_;
    } else if (step < step_ && step <= stride_ && step_ >= whole - stride_) {
      ++epoch_;
    }
    step_ = step;
    return epoch_;
  }

 private:
  int64_t epoch_ = 0;
  int64_t step_ = 0;    // of the newest line
  int64_t whole_ = 0;   // 0: none yet
  int64_t stride_ = 0;  // steps from line to line
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EPOCH_LINES_H_
