// EpochSteps: steps of the run from steps that begin anew in each epoch.

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

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EPOCH_STEPS_H_
