// RivalLosses: whether the optimizers of a rank follow losses of their own, as
// the two of a GAN do, or an actor's and its critic's. What lowers one may
// raise another, so none has a level that a healthy training keeps.

#ifndef NANWATCH_ENGINE_RIVAL_LOSSES_H_
#define NANWATCH_ENGINE_RIVAL_LOSSES_H_

#include <cmath>
#include <cstdint>

#include "model/step.h"

namespace nanwatch {

class RivalLosses {
 public:
  // Takes in a record of the optimizer `track`, one of several.
  void Add(const StepRecord& record, uint32_t track) {
    if (!record.has(StepField::kLoss)) return;
    const double loss = record[StepField::kLoss];
    if (!std::isfinite(loss)) return;
    if (record.step == step_ && track != track_) {
      // Those that share one tell the same number.
      steps_ = loss == loss_ ? 0 : steps_ + (steps_ < kSure);
    }
    step_ = record.step;
    track_ = track;
    loss_ = loss;
  }

  bool Seen() const { return steps_ >= kSure; }

 private:
  static constexpr int32_t kSure = 4;

  // Of the newest loss.
  int64_t step_ = INT64_MIN;
  double loss_ = 0;
  uint32_t track_ = 0;
  int32_t steps_ = 0;  // in a row, at which losses differed; kSure at most
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_RIVAL_LOSSES_H_
