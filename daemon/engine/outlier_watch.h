// OutlierWatch: a loss that stands far above its level at one record, where the
// gradients leave theirs, too, and that is back at the next (or next but one,
// where the next one's gradients leave their level, too). That is one batch: no
// scale that is too high, and no training that diverges. Where no record has
// gradients, it is above all losses before.

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
  // Takes in a record that the rules have judged. True when what is said of
  // outliers changed: there is one more, or one is taken for one or no more.
  bool Add(const StepRecord& record, const StepRules& rules, bool overflow,
           Fate fate) {
    if (!record.has(StepField::kLoss)) return NoteNorm(record, rules, fate);
    const int64_t before = std::exchange(step_, -1);
    const bool was_taken = std::exchange(batches_.pending_step, -1) >= 0;
    const Gradients gradients = GradientsOf(record, rules, overflow);
    const LossSpike& loss = rules.get<LossSpike>();
    const bool finite = std::isfinite(record[StepField::kLoss]);
    const bool is_back = finite && !loss.IsUp();
    if (is_back && !IsOut(gradients)) {  // both are usual
      if (before >= 0) Note(before);
      batches_.wild = loss.IsOftenWild();
      return before >= 0;
    }
    // Gradients are all ranks': the next batch may be an outlier of another.
    if (is_back && before >= 0 && ++waits_ < kWarns) {
      step_ = before;
      if (was_taken) batches_.pending_step = before;
      return NoteNorm(record, rules, fate);
    }
    if (const float level = finite ? LevelLeft(loss, gradients) : 0;
        level > 0) {
      step_ = record.step;
      waits_ = 0;
      loss_ = loss.newest();
      usual_ = level;
      gradients_ = gradients;
      fate_ = fate;
      if (IsLikeTheFirst()) batches_.pending_step = step_;
      return batches_.pending_step >= 0;
    }
    // One that goes on is no outlier's; one that does not may be anything's.
    const bool stays = !finite || loss.held() > 1;
    const bool goes_on = stays && NoteLoss(record.step);
    return NoteNorm(record, rules, fate) || goes_on || was_taken;
  }

  // Ends the wait for records: none follows. True as Add's.
  bool End() { return std::exchange(batches_.pending_step, -1) >= 0; }

  const OutlierBatches& batches() const { return batches_; }

  // True when there were some, and no norm that its rules warned of since is
  // another's.
  bool ExplainsNorm() const {
    return HasSome() && batches_.other_norm_steps[0] < batches_.steps[0];
  }

 private:
  using Gradients = OutlierBatches::Gradients;

  // Times the level. Tasks that take turns, or a batch of hard samples, make
  // two or three.
  static constexpr float kFar = 4;
  static constexpr int32_t kWarns = 3;  // norms in a row, as gnorm_spike's

  static Gradients GradientsOf(const StepRecord& record, const StepRules& rules,
                               bool overflow) {
    if (overflow) return Gradients::kOverflowed;
    if (!record.has(StepField::kGradNorm)) return Gradients::kNotTold;
    const bool is_out = rules.get<GnormSpike>().spiked() > 0 ||
                        rules.get<GnormExplosion>().IsUp();
    return is_out ? Gradients::kFarOut : Gradients::kUsual;
  }

  static bool IsOut(Gradients gradients) {
    return gradients >= Gradients::kFarOut;
  }

  // True when there was one before, as with a sample that comes in each epoch.
  bool HasSome() const { return batches_.count > 0; }

  // Returns the level that a finite loss left which may be an outlier's; else
  // 0.
  float LevelLeft(const LossSpike& loss, Gradients gradients) const {
    const bool is_alone =
        gradients == Gradients::kNotTold && loss.IsUp() && loss.IsHighest();
    if (!IsOut(gradients) && !is_alone) return 0;
    const float level = loss.JumpsFrom(kFar, HasSome());
    return level > 0 && !loss.IsNothing(loss.newest()) ? level : 0;
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

  // False for one that is much larger: it may be the first of those that stay.
  bool IsLikeTheFirst() const {
    return HasSome() && loss_ / usual_ <= kFar * batches_.loss / batches_.usual;
  }

  // True: it is the first since the last outlier.
  bool NoteLoss(int64_t step) {
    const bool first =
        HasSome() && batches_.other_loss_step < batches_.steps[0];
    batches_.other_loss_step = step;
    return first;
  }

  // Notes a norm that its rules warn of. They judge none of an update that was
  // left out.
  bool NoteNorm(const StepRecord& record, const StepRules& rules, Fate fate) {
    if (!record.has(StepField::kGradNorm) || fate == Fate::kLost) return false;
    const bool warns = rules.get<GnormExplosion>().IsUp() ||
                       rules.get<GnormSpike>().spiked() >= kWarns;
    if (!warns) return false;
    auto& steps = batches_.other_norm_steps;
    const bool first = HasSome() && steps[0] < batches_.steps[0];
    std::copy_backward(steps.begin(), steps.end() - 1, steps.end());
    steps[0] = record.step;
    return first;
  }

  OutlierBatches batches_;
  int64_t step_ = -1;  // of one that the next record decides; -1: none
  // Records since whose loss was usual and whose gradients were not.
  int32_t waits_ = 0;
  float loss_ = 0;
  float usual_ = 0;
  Gradients gradients_ = Gradients::kNotTold;
  Fate fate_ = Fate::kUnknown;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_OUTLIER_WATCH_H_
