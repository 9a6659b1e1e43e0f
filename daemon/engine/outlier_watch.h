// OutlierWatch: a loss that stands far above its level at one record, where the
// gradients leave theirs, too, and of which nothing is left at the next. That
// is one batch: no scale that is too high, and no training that diverges. Where
// nothing is told of gradients, it is above all losses before.

#ifndef NANWATCH_ENGINE_OUTLIER_WATCH_H_
#define NANWATCH_ENGINE_OUTLIER_WATCH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "detect/rules.h"
#include "diagnose/evidence.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Trivially copyable.
class OutlierWatch {
 public:
  // A record that the rules have judged. True: the record before was an
  // outlier, or this one shows that it was no lone one.
  bool Add(const StepRecord& record, const StepRules& rules, bool overflow,
           Fate fate) {
    const LossSpike& loss = rules.get<LossSpike>();
    const Gradients gradients =
        GradientsOf(record, rules.get<GnormSpike>(), overflow);
    if (!record.has(StepField::kLoss)) {
      return gradients == Gradients::kFarOut && NoteOther(record.step);
    }
    const int64_t before = std::exchange(step_, -1);
    const bool finite = std::isfinite(record[StepField::kLoss]);
    const bool is_out = gradients >= Gradients::kFarOut;
    if (finite && !loss.IsUp() && !is_out) {
      if (before >= 0) Note(before);
      return before >= 0;
    }
    const bool alone = gradients == Gradients::kNotTold && loss.IsHighest();
    const float usual = finite && loss.IsUp() && (is_out || alone)
                            ? loss.JumpsFrom(is_out ? kFar : kVeryFar)
                            : 0;
    if (usual > 0) {  // the next record decides
      step_ = record.step;
      loss_ = loss.newest();
      usual_ = usual;
      gradients_ = gradients;
      fate_ = fate;
    } else if (gradients != Gradients::kOverflowed || before >= 0) {
      // Not what a scaler's probing does.
      return NoteOther(record.step);
    }
    return false;
  }

  const OutlierBatches& batches() const { return batches_; }

 private:
  using Gradients = OutlierBatches::Gradients;

  // Times the level. Tasks that take turns, or a batch of hard samples, make
  // two or three. The loss alone may be an evaluation's, or one of small losses
  // that differ by as much.
  static constexpr float kFar = 4;
  static constexpr float kVeryFar = 10;

  static Gradients GradientsOf(const StepRecord& record,
                               const GnormSpike& norms, bool overflow) {
    if (overflow) return Gradients::kOverflowed;
    if (!record.has(StepField::kGradNorm)) return Gradients::kNotTold;
    return norms.IsUp() ? Gradients::kFarOut : Gradients::kUsual;
  }

  void Note(int64_t step) {
    std::copy_backward(batches_.steps.begin(), batches_.steps.end() - 1,
                       batches_.steps.end());
    batches_.steps[0] = step;
    batches_.overflows += gradients_ == Gradients::kOverflowed;
    if (++batches_.count > 1) return;
    batches_.first_step = step;
    batches_.loss = loss_;
    batches_.usual = usual_;
    batches_.gradients = gradients_;
    batches_.skipped = fate_ == Fate::kLost;
    batches_.applied = fate_ == Fate::kApplied;
  }

  // True: it is the first since the last outlier.
  bool NoteOther(int64_t step) {
    const bool first =
        batches_.count > 0 && batches_.other_step < batches_.steps[0];
    batches_.other_step = step;
    return first;
  }

  OutlierBatches batches_;
  int64_t step_ = -1;  // of one that the next record decides; -1: none
  float loss_ = 0;
  float usual_ = 0;
  Gradients gradients_ = Gradients::kNotTold;
  Fate fate_ = Fate::kUnknown;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_OUTLIER_WATCH_H_
