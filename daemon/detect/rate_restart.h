// RateRestart: does a learning rate go back up to where it was? That begins
// another cycle, of cosines with warm restarts, say: norms and losses leave the
// levels that they had at its end, and nothing is wrong with that.

#ifndef NANWATCH_DETECT_RATE_RESTART_H_
#define NANWATCH_DETECT_RATE_RESTART_H_

#include <algorithm>

#include "model/step.h"

namespace nanwatch {

// Trivially copyable.
class RateRestart {
 public:
  // The next record; true: it begins a cycle. Without a rate it says nothing.
  bool Note(const StepRecord& record) {
    if (!record.has(StepField::kLearningRate)) return false;
    const auto rate = static_cast<float>(record[StepField::kLearningRate]);
    const bool jumps =
        rate_ > 0 && rate >= kJump * rate_ && rate <= kHighest * highest_;
    rate_ = jumps || rate_ <= 0 ? rate : rate_ + kSmooth * (rate - rate_);
    // One that jumps up for the first time was never there for long.
    highest_ = std::max(highest_, rate_);
    return jumps;
  }

 private:
  static constexpr float kJump = 3;        // times the recent rate; ours
  static constexpr float kHighest = 1.1f;  // times the highest so far; ours
  static constexpr float kSmooth = 0.25f;  // of a record; ours

  float rate_ = 0;  // over about four records; 0: not told yet
  float highest_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RATE_RESTART_H_
