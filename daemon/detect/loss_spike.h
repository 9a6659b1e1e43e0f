// Rule 34, loss_spike: the loss jumps above its own recent level, by a robust
// baseline that holds for small and negative losses too; the ratio alone would
// accuse every noisy one. Spikes recover in tens of steps, so it is critical
// only when the loss stays in the upper half of the jump, or is an order of
// magnitude above anything healthy the run has seen (which needs little
// history).

#ifndef NANWATCH_DETECT_LOSS_SPIKE_H_
#define NANWATCH_DETECT_LOSS_SPIKE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
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
    kCriticalRatio
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
  void NoteRounding(float loss);

  Episode episode_;
  RobustBaseline baseline_;
  float loss_ = 0;
  float usual_ = 0;
  float z_ = 0;           // of the newest record
  float z_high_ = 0;      // of the newest high one
  float peak_ = 0;        // of the present spike
  float largest_ = 0;     // |loss| of healthy records, ever
  float smallest_ = 0;    // loss of healthy records, ever
  float rounding_ = 1;    // smallest move of the loss, ever
  float before_ = 0;      // the newest loss
  int32_t samples_ = 0;   // healthy ones, ever
  int32_t held_ = 0;      // records in a row above the level
  int32_t exploded_ = 0;  // records in a row
  bool calm_ = true;
  bool any_ = false;
  int64_t first_step_ = 0;  // of the present spike
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_SPIKE_H_
