// RateCourse: what a learning rate does that levels must know. It goes back up
// to where it was, and begins another cycle, of cosines with warm restarts,
// say: norms and losses leave the levels that they had at its end, and nothing
// is wrong with that. Or it is 0 from some record on: nothing is learned.

#ifndef NANWATCH_DETECT_RATE_COURSE_H_
#define NANWATCH_DETECT_RATE_COURSE_H_

#include <algorithm>
#include <cstdint>

#include "detect/last_digit.h"
#include "model/step.h"

namespace nanwatch {

// Trivially copyable.
class RateCourse {
 public:
  // Takes in the next record. Returns true where it begins a cycle. Without a
  // rate it says nothing. `exact`: one of 0 is not rounded.
  bool Note(const StepRecord& record, bool exact = false) {
    if (!record.has(StepField::kLearningRate)) return false;
    const auto rate = static_cast<float>(record[StepField::kLearningRate]);
    NoteGrowth(rate);
    if (rate != 0) {
      digit_.Note(rate);
      idle_ = 0;
    } else if (exact || digit_.worth() <= kFine * highest_) {
      idle_ = std::min(idle_ + 1, kMost);
    }
    const bool jumps =
        rate_ > 0 && rate >= kJump * rate_ && rate <= kHighest * highest_;
    rate_ = jumps || rate_ <= 0 ? rate : rate_ + kSmooth * (rate - rate_);
    // One that jumps up for the first time was never there for long.
    highest_ = std::max(highest_, rate_);
    return jumps;
  }
  // Returns how many records in a row, the newest among them, have a rate of 0
  // that no rounding hides: it moved by far less before. Saturates.
  int32_t idle() const { return idle_; }
  // It grows by the same share from record to record, as it does where somebody
  // looks for the rate at which a training breaks.
  bool probes() const { return grew_ >= kProbes; }

 private:
  void NoteGrowth(float rate) {
    const bool grows = rate >= kGrows * newest_ && newest_ > 0;
    // A warm-up by equal amounts grows by an ever smaller share.
    const bool alike = grew_ > 0 && rate >= newest_ * (1 + kAlike * share_);
    if (!grows) {
      grew_ = 0;
    } else if (alike) {
      grew_ = std::min(grew_ + 1, kProbes);
    } else {
      grew_ = 1;
      share_ = rate / newest_ - 1;
    }
    newest_ = rate;
  }

  static constexpr int32_t kProbes = 24;   // records in a row; ours
  static constexpr float kGrows = 1.03f;   // times the one before; ours
  static constexpr float kAlike = 0.8f;    // of the share; ours
  static constexpr float kJump = 3;        // times the recent rate; ours
  static constexpr float kHighest = 1.1f;  // times the highest so far; ours
  static constexpr float kSmooth = 0.25f;  // of a record; ours
  static constexpr float kFine = 0.05f;    // of the highest; ours
  static constexpr int32_t kMost = 1 << 20;

  LastDigit digit_;
  float rate_ = 0;  // over about four records; 0: not told yet
  float highest_ = 0;
  int32_t idle_ = 0;
  float newest_ = 0;
  float share_ = 0;   // by which it grew when it began to
  int32_t grew_ = 0;  // records in a row by about that; saturates
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RATE_COURSE_H_
