// Rule 33, no_single_scale: no loss scale suits all layers: the one that saves
// the small gradients of some makes the large ones of others overflow.

#ifndef NANWATCH_DETECT_NO_SINGLE_SCALE_H_
#define NANWATCH_DETECT_NO_SINGLE_SCALE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/op_name_text.h"
#include "detect/scale_advice.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class NoSingleScale {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kGradientsBit;
  enum Threshold { kShare, kGap, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  ScaleAdvice advice_;
  OpNameText lowest_{};
  OpNameText largest_{};
  double gap_ = 0;  // bits
  uint32_t losing_ = 0;
  uint32_t bounded_ = 0;
  int32_t held_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NO_SINGLE_SCALE_H_
