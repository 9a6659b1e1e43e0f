// RateCourse: what a learning rate does that levels must know. It goes back up
// to where it was, and begins another cycle, of cosines with warm restarts,
// say: norms and losses leave the levels that they had at its end, and nothing
// is wrong with that. Or it is 0 from some record on, or so low that it moves
// no weight: nothing is learned. It warms up, or comes down to next to nothing
// beside its highest.

#ifndef NANWATCH_DETECT_RATE_COURSE_H_
#define NANWATCH_DETECT_RATE_COURSE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "detect/last_digit.h"
#include "model/step.h"

namespace nanwatch {

// Trivially copyable.
class RateCourse {
 public:
  // Takes in the next record. Without a rate it says nothing. `exact`: one of 0
  // is not rounded.
  void Note(const StepRecord& record, bool exact = false) {
    restarts_ = rises_ = false;
    if (!record.has(StepField::kLearningRate)) return;
    const double told = record[StepField::kLearningRate];
    const auto rate = static_cast<float>(told);
    if (std::isfinite(rate)) {
      rises_ = rate > kRises * highest_;
      highest_ = std::max(highest_, rate);
    }
    const float before = newest_;
    NoteGrowth(rate);
    if (rate > 0 && rate != some_ && std::isfinite(rate)) NoteSome(told);
    if (rate != 0 && !(rate > 0 && rate < kMoves * highest_)) {
      idle_ = 0;
    } else if (rate != 0 || exact || WouldShow()) {
      idle_ = std::min(idle_ + 1, kMost);
    }
    restarts_ = rate_ > 0 && rate >= kJump * rate_ && rate <= kHeld * held_;
    rate_ = restarts_ || rate_ <= 0 ? rate : rate_ + kSmooth * (rate - rate_);
    // One that jumps up for the first time was never there.
    held_ = std::max(held_, std::min(rate, before));
  }
  // A cycle begins with the newest record.
  bool restarts() const { return restarts_; }
  // The rate of the newest record is above all before.
  bool rises() const { return rises_; }
  float highest() const { return highest_; }  // so far; 0: none
  float newest() const { return newest_; }
  // The newest rate is so low beside the highest that little need change.
  bool is_low() const { return !(newest_ > 0 && newest_ >= kLow * highest_); }
  // Returns how many records in a row, the newest among them, have a rate that
  // changes nothing: of 0 that no rounding hides, or so far below the highest
  // that an update is lost in the rounding of the weights, since none is larger
  // than the weights are. Saturates.
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
  // Takes in another rate than the one before, and how finely it is printed.
  void NoteSome(double rate) {
    before_ = std::exchange(some_, static_cast<float>(rate));
    digit_.Note(some_);
    const auto is_whole = [](double x) {
      return std::fabs(x - std::round(x)) <= kWhole * x;
    };
    while (parts_ < kFinest && !is_whole(parts_ * rate)) parts_ *= 10;
  }
  // Rates are printed finely beside the highest, and one that falls by the same
  // share once more, from the newest that was not 0, would not be printed as 0.
  bool WouldShow() const {
    const float share = some_ < before_ ? some_ / before_ : 1;
    return digit_.worth() <= kFine * held_ &&
           static_cast<double>(share * some_) * parts_ >= 1 - kWhole;
  }

  static constexpr int32_t kProbes = 24;   // records in a row; ours
  static constexpr float kGrows = 1.03f;   // times the one before; ours
  static constexpr float kAlike = 0.8f;    // of the share; ours
  static constexpr float kRises = 1.001f;  // times the highest before; ours
  static constexpr float kLow = 0.01f;     // of the highest; ours
  static constexpr float kJump = 3;        // times the recent rate; ours
  static constexpr float kHeld = 1.1f;     // times the highest held; ours
  static constexpr float kSmooth = 0.25f;  // of a record; ours
  static constexpr float kFine = 0.05f;    // of the highest held; ours
  static constexpr double kWhole = 1e-6;   // of a number, from it; ours
  static constexpr double kFinest = 1e15;  // parts of 1, of a double; ours
  static constexpr float kMoves = 6e-8f;   // of a number: fp32's rounding
  static constexpr int32_t kMost = 1 << 20;

  LastDigit digit_;
  double parts_ = 1;  // of 1, in which all rates so far are whole
  float some_ = 0;    // the newest that is not 0
  float before_ = 0;  // another one, before it
  float rate_ = 0;    // over about four records; 0: not told yet
  float held_ = 0;    // the highest that two records in a row had
  float highest_ = 0;
  int32_t idle_ = 0;
  float newest_ = 0;
  float share_ = 0;   // by which it grew when it began to
  int32_t grew_ = 0;  // records in a row by about that; saturates
  bool restarts_ = false;
  bool rises_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RATE_COURSE_H_
