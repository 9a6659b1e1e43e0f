// Rule 32, underflow_predicted: many layers lose gradients to underflow while
// there is room above: a higher scale is better. Predicted from exponents, or
// from the moments of each tensor (see scaler/headroom.h).

#ifndef NANWATCH_DETECT_UNDERFLOW_PREDICTED_H_
#define NANWATCH_DETECT_UNDERFLOW_PREDICTED_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/op_name_text.h"
#include "detect/scale_advice.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UnderflowPredicted {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kGradientsBit;
  enum Threshold { kShare, kHeadroom, kHold, kClearShare, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  ScaleAdvice advice_;
  OpNameText lowest_{};
  uint32_t losing_ = 0;
  uint32_t bounded_ = 0;
  int32_t held_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UNDERFLOW_PREDICTED_H_
