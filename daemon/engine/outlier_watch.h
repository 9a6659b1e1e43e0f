// OutlierWatch: a loss that stands far above its level at one record, where the
// gradients leave theirs too, and of which nothing is left at the next. That is
// one batch: no scale that is too high, and no training that diverges.

#ifndef NANWATCH_ENGINE_OUTLIER_WATCH_H_
#define NANWATCH_ENGINE_OUTLIER_WATCH_H_

#include <cmath>
#include <cstdint>
#include <utility>

#include "detect/loss_spike.h"
#include "diagnose/evidence.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Trivially copyable.
class OutlierWatch {
 public:
  // A record that `loss` has judged. `gradients`: they overflowed, or their
  // norm stands out. True: the record before was an outlier.
  bool Add(const StepRecord& record, const LossSpike& loss, bool gradients,
           bool overflow, Fate fate) {
    if (!record.has(StepField::kLoss)) return false;
    const int64_t before = std::exchange(step_, -1);
    if (!std::isfinite(record[StepField::kLoss])) return false;
    if (!loss.IsUp()) {
      if (before >= 0) Note(before);
      return before >= 0;
    }
    const float usual = gradients ? loss.JumpsFrom(kFar) : 0;
    if (usual <= 0) return false;
    step_ = record.step;
    loss_ = loss.newest();
    usual_ = usual;
    overflow_ = overflow;
    skipped_ = fate == Fate::kLost;
    return false;
  }

  const OutlierBatches& batches() const { return batches_; }

 private:
  // Times the level. Tasks that take turns, or a batch of hard samples, make
  // two or three.
  static constexpr float kFar = 5;

  void Note(int64_t step) {
    batches_.last_step = step;
    batches_.overflows += overflow_;
    if (++batches_.count > 1) return;
    batches_.first_step = step;
    batches_.loss = loss_;
    batches_.usual = usual_;
    batches_.overflow = overflow_;
    batches_.skipped = skipped_;
  }

  OutlierBatches batches_;
  int64_t step_ = -1;  // of one that the next record decides; -1: none
  float loss_ = 0;
  float usual_ = 0;
  bool overflow_ = false;
  bool skipped_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_OUTLIER_WATCH_H_
