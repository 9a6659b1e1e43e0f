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
  // A record that the rules have judged. True: what is told of outliers is
  // another: there is one more, or one was no lone one.
  bool Add(const StepRecord& record, const StepRules& rules, bool overflow,
           Fate fate) {
    const Gradients gradients = GradientsOf(record, rules, overflow);
    if (!record.has(StepField::kLoss)) return NoteNorm(record.step, rules);
    const int64_t before = std::exchange(step_, -1);
    const LossSpike& loss = rules.get<LossSpike>();
    const bool finite = std::isfinite(record[StepField::kLoss]);
    switch (KindOf(loss, finite, gradients)) {
      case Kind::kUsual:
        if (before >= 0) Note(before);
        return before >= 0;
      case Kind::kOutlier:  // the next record decides
        step_ = record.step;
        loss_ = loss.newest();
        usual_ = loss.JumpsFrom(kFar, HasSome());
        gradients_ = gradients;
        fate_ = fate;
        return false;
      case Kind::kOther:
        break;
    }
    // One that goes on is no outlier's; a small one may be anything's.
    const bool stays =
        !finite || loss.held() > 1 || loss.JumpsFrom(kFar, HasSome()) > 0;
    const bool changed =
        stays && NoteOther(record.step, &batches_.other_loss_step);
    return NoteNorm(record.step, rules) || changed;
  }

  const OutlierBatches& batches() const { return batches_; }

 private:
  using Gradients = OutlierBatches::Gradients;
  // Of a record: as ever, far out, and all else that stands out.
  enum class Kind : uint8_t { kUsual, kOutlier, kOther };

  // Times the level. Tasks that take turns, or a batch of hard samples, make
  // two or three. The loss alone may be an evaluation's, or one of small losses
  // that differ by as much.
  static constexpr float kFar = 4;
  static constexpr float kVeryFar = 10;
  static constexpr int32_t kWarns = 3;  // norms in a row, as of rule 27

  static Gradients GradientsOf(const StepRecord& record, const StepRules& rules,
                               bool overflow) {
    if (overflow) return Gradients::kOverflowed;
    if (!record.has(StepField::kGradNorm)) return Gradients::kNotTold;
    const bool is_out = rules.get<GnormSpike>().spiked() > 0 ||
                        rules.get<GnormExplosion>().IsUp();
    return is_out ? Gradients::kFarOut : Gradients::kUsual;
  }

  // One that comes again, as with a sample in each epoch.
  bool HasSome() const { return batches_.count > 0; }

  // `finite`: its loss is.
  Kind KindOf(const LossSpike& loss, bool finite, Gradients gradients) const {
    const bool is_out = gradients >= Gradients::kFarOut;
    if (!finite) return Kind::kOther;
    if (!loss.IsUp()) return is_out ? Kind::kOther : Kind::kUsual;
    const bool alone = gradients == Gradients::kNotTold && loss.IsHighest();
    const float level = loss.JumpsFrom(is_out ? kFar : kVeryFar, HasSome());
    return (is_out || alone) && level > 0 &&
                   !loss.IsNothing(level, loss.newest())
               ? Kind::kOutlier
               : Kind::kOther;
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
  bool NoteOther(int64_t step, int64_t* other) {
    const bool first = batches_.count > 0 && *other < batches_.steps[0];
    *other = step;
    return first;
  }

  // Of a norm that its rules warn of.
  bool NoteNorm(int64_t step, const StepRules& rules) {
    const bool warns = rules.get<GnormExplosion>().IsUp() ||
                       rules.get<GnormSpike>().spiked() >= kWarns;
    return warns && NoteOther(step, &batches_.other_norm_step);
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
