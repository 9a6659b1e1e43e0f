// Rule 34, loss_spike: the loss jumps above its own recent level. There are
// three views of that level: EarlyLosses before there is a baseline; a robust
// baseline, which holds for small and negative losses too; LossLift where the
// baseline is as wide as the descent that it holds. LossTail compares the last
// losses of a log with those before them. What is asked of a jump, and why, is
// in the RuleSpec (trigger, differs).

#ifndef NANWATCH_DETECT_LOSS_SPIKE_H_
#define NANWATCH_DETECT_LOSS_SPIKE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "detect/context.h"
#include "detect/early_losses.h"
#include "detect/episode.h"
#include "detect/first_losses.h"
#include "detect/last_digit.h"
#include "detect/loss_course.h"
#include "detect/loss_lift.h"
#include "detect/loss_tail.h"
#include "detect/rate_restart.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  static constexpr bool kOfOneLoss = true;
  enum Threshold {
    kZ,
    kRatio,
    kHold,
    kCriticalHold,
    kExplosionRatio,
    kClearRatio,
    kClear,
    kCriticalRatio,
    kWarningRatio,
    kSmallHold,
    kCriticalSteps,
    kLostHold,
    kFalls,
    kFallsRatio
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  // Waiting for a way back has an end: where none shows, it is critical.
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;
  // It jumped and is on its way back, or there.
  bool Returns() const;
  // Of the newest finite loss: it is above its level.
  bool IsUp() const { return held_ > 0; }
  // It is the first to be so, `ratio` times the level, of a single batch, and
  // losses that stand out are seldom here (`again`: as were others before it;
  // so they may be a bit less so): the level; else 0.
  float JumpsFrom(float ratio, bool again) const;
  float newest() const { return loss_; }  // REQUIRES: IsUp()
  // Above all healthy ones there were. REQUIRES: IsUp()
  bool IsHighest() const { return loss_ > largest_; }
  // Records in a row that are above the level, the newest among them.
  int32_t held() const { return held_; }
  // A net that has learned all there is: its loss is next to nothing, and
  // wanders there by many times its level. Asked of one that left `level` for
  // `peak`.
  bool IsNothing(float level, float peak) const {
    // Of the largest; small conv nets come to 1e-6; ours.
    constexpr float kLevel = 1e-4f;
    constexpr float kPeak = 0.05f;  // of the largest; ours
    const float largest = std::min(1.0f, largest_);
    return std::fabs(level) < kLevel * largest &&
           std::fabs(peak) < kPeak * largest;
  }

 private:
  // Of what left such a level for such a peak.
  Severity Of(float level, float peak, Severity severity) const;
  Severity Judge(float loss, const StepContext& c, Thresholds t);
  bool RisesAsScaleFalls(float loss, const StepContext& c, Thresholds t);
  bool LeavesFirst(float loss, int64_t step, Thresholds t);
  // `overflowed`: since the loss before.
  bool Explodes(float size, bool overflowed, Thresholds t) const;
  // Against the few losses there are. REQUIRES: no baseline yet.
  bool StandsOut(float loss, Thresholds t) const;
  // As StandsOut; notes z_.
  bool IsHighEarly(float loss, Thresholds t);
  // Against the baseline; notes z_ and calm_.
  bool IsHigh(float loss, Thresholds t);
  void OnHealthy(float loss);
  Severity OnHigh(float loss, int64_t step, Thresholds t);
  void Begin(float loss, int64_t step);
  void Follow(float loss, Thresholds t);
  // It stays, and does not come down.
  bool IsCritical(int64_t steps, Thresholds t) const;
  // No loss that grows in health, as a critic's.
  bool Learned() const;
  // High records that are enough at the end.
  double EndHold(Thresholds t) const;
  // Of the last losses, where no spike is followed; notes them.
  Severity OfTail(Thresholds t);
  // Of a loss that left the level of just before (LossLift), where that is
  // worse than what is told: once it stays for `hold` records and `steps`
  // steps, or came back.
  Severity OfLift(double hold, double steps, Thresholds t) const;
  void TellLift();
  // The baseline begins anew with the level that stays.
  void Accept(float loss);
  bool ComesDown() const;
  bool Climbs(float loss) const;
  float HoldOf(Thresholds t) const;
  // Records that stand for more than one batch each.
  double LeastHold(Thresholds t) const;
  bool early() const;  // no baseline yet, or one that is far behind

  Episode episode_;
  RobustBaseline baseline_;
  EarlyLosses early_losses_;
  float loss_ = 0;
  float usual_ = 0;
  float z_ = 0;        // of the newest record
  float z_high_ = 0;   // of the newest high one
  float peak_ = 0;     // of the present spike
  LossCourse course_;  // of the present spike
  LossTail tail_;
  LossLift lift_;
  float highest_ = 0;  // peak of all spikes of the episode
  float start_ = 0;    // first loss of the present spike, and its deviations
  float z_start_ = 0;
  float often_ = 0;  // usual share of losses that stand out shortly
  // Means of the first and of the second half of the first small_hold losses of
  // the present spike.
  float early_ = 0;
  float late_ = 0;
  // Of the present spike, over about four records; and its largest so far.
  float smooth_ = 0;
  float smooth_peak_ = 0;
  float largest_ = 0;       // |loss| of healthy records, ever
  float smallest_ = 0;      // loss of healthy records, ever
  float recent_ = 0;        // loss, over about four of them
  float before_falls_ = 0;  // lowest of those since the scale last grew
  float rose_from_ = 0;
  float rose_to_ = 0;
  LastDigit digit_;       // where the loss is rounded, its last digit
  int32_t held_ = 0;      // records in a row above the level
  int32_t far_ = 0;       // of those at the end, far above it
  int32_t stays_ = 0;     // records in a row where a critical one is
  int32_t climbs_ = 0;    // records in a row well above the first
  int32_t high_for_ = 0;  // of the episode's longest spike
  int32_t exploded_ = 0;  // records in a row
  RateRestart restart_;
  bool calm_ : 1 = true;
  bool early_spike_ : 1 = false;  // it began before there was a baseline
  bool stands_out_ : 1 = false;   // the newest: so few losses, so steady
  bool applied_ : 1 = false;      // an overflow was applied, ever
  bool began_ : 1 = false;        // there was a loss
  bool resumed_ : 1 = false;      // the first of all was late
  bool language_ : 1 = false;     // the loss is a language model's
  bool means_ : 1 = false;  // records are means over the steps between them
  bool left_first_ : 1 = false;  // the finding is about the first losses
  bool accepted_ : 1 = false;    // it stayed: that is the level now
  bool to_end_ : 1 = false;      // it was high when all was over
  bool of_tail_ : 1 = false;     // the finding is about the last losses
  bool of_lift_ : 1 = false;     // or about lift_
  int16_t samples_ = 0;          // healthy ones, saturates at kEarly
  int16_t gap_ = 1;              // steps from the loss before; saturates at 100
  // Records for which one that stood out is the newest; < 0: for which one that
  // was not finite explains it.
  int16_t just_high_ = 0;
  FirstLosses first_losses_;  // of a language model that was resumed
  int64_t last_step_ = 0;     // with a loss
  int32_t risen_ = 0;         // losses in a row, far above before_falls_
  int32_t falls_ = 0;       // overflows of the finding about them; 0: it is not
  int64_t overflows_ = 0;   // before the newest loss
  int64_t first_step_ = 0;  // of the present spike
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_SPIKE_H_
