// RivalLosses: whether the optimizers of a rank follow losses of their own, as
// the two of a GAN do, or an actor's and its critic's. What lowers one may
// raise another, so none has a level that a healthy training keeps.

#ifndef NANWATCH_ENGINE_RIVAL_LOSSES_H_
#define NANWATCH_ENGINE_RIVAL_LOSSES_H_

#include <algorithm>
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
    critic_ |= loss < 0;
    if (record.step == step_ && track != track_) {
      // Those that share one tell the same number; rivals may by chance.
      steps_ = loss == loss_ ? std::max(steps_ - 1, 0)
                             : std::min(steps_ + 1, +kSure);
      seen_ = steps_ == kSure || (seen_ && steps_ > 0);
    }
    step_ = record.step;
    track_ = track;
    loss_ = loss;
  }

  // The client sees it, of one optimizer whose rival nobody watches.
  void Tell() { told_ = true; }

  bool Seen() const { return seen_ || told_; }
  // One is ever below 0, as a critic's: then none has a scale.
  bool HasCritic() const { return critic_; }

 private:
  static constexpr int32_t kSure = 4;

  // Of the newest loss.
  int64_t step_ = INT64_MIN;
  double loss_ = 0;
  uint32_t track_ = 0;
  // At which losses differed, less those at which they did not; kSure at most.
  int32_t steps_ = 0;
  bool seen_ = false;
  bool told_ = false;
  bool critic_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_RIVAL_LOSSES_H_
