// Rule 59, unscaled_twice: the optimizer got gradients that were divided by the
// loss scale once more than they were multiplied by it. Updates are then as
// small as with a learning rate divided by the scale; an optimizer that
// normalises them hides it until they underflow.

#ifndef NANWATCH_DETECT_UNSCALED_TWICE_H_
#define NANWATCH_DETECT_UNSCALED_TWICE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UnscaledTwice {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kAppliedGradNorm);
  enum Threshold { kHold };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  float norm_ = 0;     // unscaled, before clipping
  float applied_ = 0;  // what the optimizer got
  float scale_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UNSCALED_TWICE_H_
