// EpochSteps: steps of the run from steps that begin anew in each epoch.
// SeenEpochSteps: the same, where only the lines show whether they do.

#ifndef NANWATCH_LOGS_EPOCH_STEPS_H_
#define NANWATCH_LOGS_EPOCH_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

namespace nanwatch {

// Where lines do not say how long an epoch is: it is as long as the highest
// step that was seen in it.
class EpochSteps {
 public:
  // The run's step. nullopt: a line of another rank that is late, from the end
  // of the epoch before.
  std::optional<int64_t> Step(int64_t epoch, int64_t step) {
    if (epoch == epoch_ - 1 && length_ > 0 && step > length_ / 2) {
      return std::nullopt;
    }
    if (epoch > epoch_ && epoch_ >= 0) {
      base_ += (epoch - epoch_) * std::max<int64_t>(1, highest_);
      length_ = highest_;
      highest_ = 0;
    } else if (epoch < epoch_) {  // from the beginning, or a checkpoint
      base_ = length_ > 0 ? std::max<int64_t>(0, epoch - 1) * length_ : 0;
      highest_ = 0;
    }
    epoch_ = epoch;
    highest_ = std::max(highest_, step);
    return base_ + step;
  }

 private:
  int64_t epoch_ = -1;
  int64_t base_ = 0;     // steps of the epochs before
  int64_t highest_ = 0;  // of this epoch
  int64_t length_ = 0;   // of the epoch before; 0: unknown
};

// For lines of no known program: steps are the run's until one goes back while
// the epoch rises. From then on they are counted in epochs. A step that goes
// back in the same epoch or an earlier one does so in what is returned, too:
// there the run began again.
class SeenEpochSteps {
 public:
  // The run's step. nullopt for the epoch: the line does not say it.
  // REQUIRES: epoch is below a million.
  int64_t Step(std::optional<int64_t> epoch, int64_t step) {
    if ((!epoch && !anew_) || step > kStepMax) return step;
    const int64_t in = epoch.value_or(epoch_);
    if (!anew_ && epoch_ >= 0 && in > epoch_ && step <= last_) {
      anew_ = true;
      steps_.Step(epoch_, highest_);
    }
    if (anew_) return OfRun(in, step);
    highest_ = in == epoch_ ? std::max(highest_, step) : step;
    epoch_ = in;
    last_ = step;
    return step;
  }

 private:
  // No epoch has as many; a million of them do not overflow.
  static constexpr int64_t kStepMax = 1'000'000'000;

  int64_t OfRun(int64_t epoch, int64_t step) {
    const std::optional<int64_t> run = steps_.Step(epoch, step);
    // Another rank's that is late, or the run began again in that epoch.
    if (!run) return before_ + step;
    if (epoch > epoch_) before_ = start_;
    start_ = *run - step;
    epoch_ = epoch;
    return *run;
  }

  EpochSteps steps_;  // once they are seen to begin anew
  bool anew_ = false;
  int64_t epoch_ = -1;   // -1: none was told
  int64_t last_ = 0;     // step
  int64_t highest_ = 0;  // of this epoch
  int64_t start_ = 0;    // the run's step where this epoch begins
  int64_t before_ = 0;   // and where the one before it did
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EPOCH_STEPS_H_
