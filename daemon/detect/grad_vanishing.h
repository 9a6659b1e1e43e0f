// Rule 30, grad_vanishing: the gradient norm falls to next to nothing although
// the loss does not. Against the run's own level: an absolute one would depend
// on the number of parameters, and a slow decay is what training does.

#ifndef NANWATCH_DETECT_GRAD_VANISHING_H_
#define NANWATCH_DETECT_GRAD_VANISHING_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GradVanishing {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  enum Threshold { kRatio, kHold, kMinSamples, kClearRatio, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  RobustBaseline usual_;  // log2 of the norm
  double norm_ = 0;
  float level_ = 0;  // log2, as the trouble began
  double loss_ = 0;  // at the newest healthy norm
  int32_t held_ = 0;
  bool has_loss_ = false;
  bool loss_gone_ = false;  // from `loss_` to exactly 0 at once
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GRAD_VANISHING_H_
