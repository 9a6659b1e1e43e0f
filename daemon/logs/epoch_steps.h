// EpochSteps: steps of the run from steps that begin anew in each epoch.
// SeenEpochSteps: the same, where only the lines show whether they do.

#ifndef NANWATCH_LOGS_EPOCH_STEPS_H_
#define NANWATCH_LOGS_EPOCH_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

namespace nanwatch {

// Where lines do not say how long an epoch is: it is as long as the highest
// step that was seen in it, and where they count from 0, as the next one would
// be. A log that begins in a later epoch, and says how long one is, goes on
// from those before it.
class EpochSteps {
 public:
  // REQUIRES: both are below 2e9.
  // The run's step. Of the epoch before it goes back by as much: a line of
  // another rank that is late, or of a run that began again in that epoch;
  // which of the two is for those to say who know what ranks print.
  // `whole`: steps of an epoch, where the line shows them; 0: it does not.
  int64_t Step(int64_t epoch, int64_t step, int64_t whole = 0) {
    if (epoch_ < 0 && epoch > 1 && whole > 0) BeginAt(epoch, whole);
    if (epoch == epoch_ - 1) return before_ + step;
    from_zero_ |= step == 0;
    if (epoch > epoch_ && epoch_ >= 0) {
      length_ = std::max<int64_t>(
          1, whole > 0 ? whole : highest_ + (from_zero_ ? stride_ : 0));
      before_ = base_ + (epoch - 1 - epoch_) * length_;
      base_ = std::min(base_ + (epoch - epoch_) * length_, kBaseMax);
      highest_ = 0;
    } else if (epoch < epoch_) {  // from the beginning, or a checkpoint
      base_ = std::max<int64_t>(0, base_ - (epoch_ - epoch) * length_);
      before_ = std::max<int64_t>(0, base_ - length_);
      highest_ = 0;
    }
    epoch_ = epoch;
    if (step > highest_) {
      stride_ = step - highest_;
      highest_ = step;
    }
    return base_ + step;
  }

 private:
  // Torn numbers make any epoch: no sum of them overflows.
  static constexpr int64_t kBaseMax = 1'000'000'000'000'000'000;

  // Epochs before the first that is seen were as long; they count from 1.
  void BeginAt(int64_t epoch, int64_t whole) {
    epoch_ = epoch;
    length_ = whole;
    base_ = std::min((epoch - 1) * whole, kBaseMax);
    before_ = base_ - whole;
  }

  int64_t epoch_ = -1;
  int64_t base_ = 0;     // steps of the epochs before
  int64_t before_ = 0;   // and of those before the one before
  int64_t highest_ = 0;  // of this epoch
  int64_t stride_ = 1;   // from there to the one before
  int64_t length_ = 0;   // of the epoch before; 0: unknown
  bool from_zero_ = false;
};

// For lines of no known program: steps are the run's until one goes back while
// the epoch rises, or where the log begins with one that is too low for its
// epoch: each of those before had a step at least. From then on they are
// counted in epochs. A step that goes back in the same epoch or an earlier one
// does so in what is returned, too: there the run began again.
class SeenEpochSteps {
 public:
  // The run's step. nullopt for the epoch: the line does not say it.
  // REQUIRES: epoch is below a million.
  int64_t Step(std::optional<int64_t> epoch, int64_t step, int64_t whole = 0) {
    if ((!epoch && !anew_) || step > kStepMax) return step;
    const int64_t in = epoch.value_or(epoch_);
    // An epoch may begin at the step where the one before ended; of epochs with
    // a line each, all end at the same.
    if (epoch_ < 0 && whole >= step && step < in - 1) anew_ = true;
    const bool falls = step < last_ || (step == last_ && stride_ == 0);
    if (!anew_ && epoch_ >= 0 && in > epoch_ && falls) {
      anew_ = true;
      steps_.Step(epoch_, highest_ - stride_);
      steps_.Step(epoch_, highest_);
    }
    if (anew_) {
      epoch_ = in;
      return steps_.Step(in, step, whole);
    }
    if (in == epoch_ && step > highest_) stride_ = step - highest_;
    highest_ = in == epoch_ ? std::max(highest_, step) : step;
    epoch_ = in;
    last_ = step;
    return step;
  }

 private:
  // No epoch has as many; a million of them do not overflow.
  static constexpr int64_t kStepMax = 1'000'000'000;

  EpochSteps steps_;  // once they are seen to begin anew
  bool anew_ = false;
  int64_t epoch_ = -1;   // -1: none was told
  int64_t last_ = 0;     // step
  int64_t highest_ = 0;  // of this epoch
  int64_t stride_ = 0;   // from there to the one before; 0: none yet
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EPOCH_STEPS_H_
