// Rule 1, scale_at_floor: a dynamic loss scale has fallen to its floor. A scale
// that began there (BF16 runs log 1 for ever) says nothing. Whether gradients
// vanish at a low scale is for the gradient rules to say.

#ifndef NANWATCH_DETECT_SCALE_AT_FLOOR_H_
#define NANWATCH_DETECT_SCALE_AT_FLOOR_H_

#include <cstdint>
#include <string>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"
#include "model/tense.h"

namespace nanwatch {

class ScaleAtFloor {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold {
    kNominalFloor,
    kCriticalStreak,
    kClear,
    kProbeAfter,
    kProbe,
    kRisen
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // Is the newest overflow a probe of a scaler that lives near its floor?
  bool Probes(const StepContext& c, double scale, Thresholds t);
  // Below it the scale does not go; *stands: overflows in a row that left it.
  double FloorOf(const StepContext& c, Thresholds t, int64_t* stands);
  // REQUIRES: the newest update overflowed at the floor.
  bool IsCritical(const ScalerTracker& scaler, Thresholds t) const;
  std::string Say(Tense tense) const;

  static constexpr int32_t kNeverGrew = 100;  // ours: the most of `probe`

  Episode episode_;
  double scale_ = 0;
  double floor_ = 0;
  int64_t overflows_at_floor_ = 0;  // in this episode
  int64_t floor_streak_ = 0;        // of them, in a row
  int64_t stood_ = 0;               // overflows in a row that left the scale
  double overflow_scale_ = 0;       // that the newest overflow left; 0: none
  int32_t falls_ = kNeverGrew;      // overflows since it grew
  float present_ = 0;               // scale
  int64_t overflow_step_ = 0;       // its step
  float top_ = 0;         // scale that the first overflow of the row left
  bool nominal_ = false;  // the scaler has no floor
  bool was_at_ = false;
  bool probes_ = false;  // the newest overflow
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_AT_FLOOR_H_
