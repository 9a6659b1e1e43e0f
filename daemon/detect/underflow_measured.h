// Rule 31, underflow_measured: gradient elements are lost to underflow, as the
// program counted; or more of them are zero than were. Zeros by themselves are
// no underflow (embeddings, ReLU, masks): only their rise is judged, and one in
// the first steps that leaves most of the model without a gradient.

#ifndef NANWATCH_DETECT_UNDERFLOW_MEASURED_H_
#define NANWATCH_DETECT_UNDERFLOW_MEASURED_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/early_death.h"
#include "detect/episode.h"
#include "detect/op_name_text.h"
#include "detect/scale_advice.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UnderflowMeasured {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kUnderflowFraction) |
                                     Bit(StepField::kZeroFraction) |
                                     kGradientsBit;
  enum Threshold {
    kWarning,
    kCritical,
    kRise,
    kScaleFell,
    kAllZero,
    kDead,
    kClear
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const { return death_.possible(); }
  void Describe(Finding* finding) const;

 private:
  Severity JudgeFraction(double fraction, Thresholds t);
  Severity JudgeZeros(const StepContext& c, double zeros, Thresholds t);
  void TakeName(const StepContext& c);  // REQUIRES: it has gradients
  void FollowRate(const StepRecord& record);
  Severity JudgeName(double zeros);
  void LearnZeros(double zeros, double scale);
  Severity JudgeDeath(const StepRecord& record, Thresholds t);
  void SayOfDeath(Finding* finding) const;

  static constexpr int16_t kLongAgo = 64;  // records; ours

  Episode episode_;
  ScaleAdvice advice_;
  EarlyDeath death_;
  // The tensor that became exactly 0 as the share of zeros rose; until it is as
  // usual again.
  OpNameText name_{};
  int64_t name_step_ = 0;
  uint32_t name_more_ = 0;  // tensors that became so with it
  int16_t name_held_ = 0;   // records in a row, up to kHold
  // As it became so neither had the scale fallen, nor the learning rate just
  // risen, which kills units.
  bool name_alone_ = false;
  bool died_ = false;       // most of the model, and early
  float rate_ = 0;          // learning rate; 0: not known
  int32_t all_zero_ = 0;    // updates in a row
  double fraction_ = -1;    // underflow, smoothed; -1: none yet
  double first_level_ = 0;  // of the first 16 updates
  double zeros_ = -1;       // smoothed
  double usual_zeros_ = 0;
  float deviation_ = 0;  // of the share of zeros from one to the next
  float jump_ = 0;       // of this rise, made in one update
  double last_zeros_ = -1;
  double usual_scale_ = 0;  // while the zeros were usual; 0: none
  uint64_t elements_ = 0;   // that the zeros are counted among
  // Records and updates; they saturate.
  int16_t since_rise_ = kLongAgo;  // of the learning rate
  int16_t fractions_ = 0;
  int16_t zero_samples_ = 0;
  int16_t risen_ = 0;  // in a row, at once and at the same scale
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UNDERFLOW_MEASURED_H_
