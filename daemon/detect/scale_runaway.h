// Rule 11, scale_runaway: nothing bounds the loss scale, and gradients of fp16
// that are not all zero overflow below 2^40: they are zero, or no fp16 numbers
// at all (a scaler around BF16). Its end is infinity, where every update is
// lost at once.

#ifndef NANWATCH_DETECT_SCALE_RUNAWAY_H_
#define NANWATCH_DETECT_SCALE_RUNAWAY_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/streak.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleRunaway {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kInfo, kWarning, kCritical, kHold };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const { return above_.records() > 0; }
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double scale_ = 0;
  double first_scale_ = 0;
  Streak above_;  // updates
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_RUNAWAY_H_
