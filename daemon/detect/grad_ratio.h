// Rule 29, grad_ratio: the gradient at the first op against that at the last
// one is far from what it was. What the ratio is by itself depends on which ops
// are observed (the loss's own gradient is the scale), so the run's own is
// judged.

#ifndef NANWATCH_DETECT_GRAD_RATIO_H_
#define NANWATCH_DETECT_GRAD_RATIO_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/usual.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GradRatio {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kGradientsBit;
  enum Threshold { kExplode, kVanish, kMinSamples, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  Usual usual_;  // log2 of first / last
  double ratio_ = 0;
  double usual_ratio_ = 0;
  int32_t first_order_ = -1;
  int32_t last_order_ = -1;
  int32_t held_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GRAD_RATIO_H_
