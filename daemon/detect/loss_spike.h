// Rule 34, loss_spike: the loss jumps above its own recent level, by a robust
// baseline that holds for small and negative losses too; the ratio alone would
// accuse every noisy one. Spikes recover in tens of steps, so it is critical
// only when the loss stays in the upper half of the jump, or is an order of
// magnitude above anything healthy the run has seen (which needs little
// history). A small jump, as where the learning rate begins anew or harder data
// follow, is a note until it climbs further, or has stayed for a while without
// coming down. Where
// losses stand out often and for a record or two, as those of a mixture of
// tasks do, more in a row are asked for: as many as chance makes once in a
// million records.

#ifndef NANWATCH_DETECT_LOSS_SPIKE_H_
#define NANWATCH_DETECT_LOSS_SPIKE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/last_digit.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
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
    kSmallHold
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Severity Judge(float loss, Thresholds t);
  bool Explodes(float size, Thresholds t) const;
  // Against the few losses there are. REQUIRES: no baseline yet.
  bool StandsOut(float loss, Thresholds t) const;
  // Against the baseline; notes z_ and calm_.
  bool IsHigh(float loss, Thresholds t);
  void OnHealthy(float loss);
  Severity OnHigh(float loss, Thresholds t);
  bool ComesDown() const;
  bool Climbs(float loss) const;
  float HoldOf(Thresholds t) const;

  Episode episode_;
  RobustBaseline baseline_;
  float loss_ = 0;
  float usual_ = 0;
  float z_ = 0;        // of the newest record
  float z_high_ = 0;   // of the newest high one
  float peak_ = 0;     // of the present spike
  float highest_ = 0;  // peak of all spikes of the episode
  float start_ = 0;    // first loss of the present spike, and its deviations
  float z_start_ = 0;
  float often_ = 0;  // usual share of losses that stand out shortly
  // Means of the first and of the second half of the first small_hold losses of
  // the present spike.
  float early_ = 0;
  float late_ = 0;
  float largest_ = 0;      // |loss| of healthy records, ever
  float smallest_ = 0;     // loss of healthy records, ever
  LastDigit digit_;        // where the loss is rounded, its last digit
  int32_t samples_ = 0;    // healthy ones, ever
  int32_t held_ = 0;       // records in a row above the level
  int32_t far_ = 0;        // of those at the end, far above it
  int32_t stays_ = 0;      // likewise, where a critical one is
  int32_t climbs_ = 0;     // likewise, well above the first
  int32_t high_for_ = 0;   // of the episode's longest spike
  bool accepted_ = false;  // it stayed: that is the level now
  int32_t exploded_ = 0;   // records in a row
  bool calm_ = true;
  int64_t first_step_ = 0;  // of the present spike
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_SPIKE_H_
