// Rule 7, never_calibrated: start-up should be over and no update went well
// yet, so nothing was learned at all. A fixed scale is not given time to
// search: then it speaks after as many updates as its scale has halvings.

#ifndef NANWATCH_DETECT_NEVER_CALIBRATED_H_
#define NANWATCH_DETECT_NEVER_CALIBRATED_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class NeverCalibrated {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kMore, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  // No good update will follow.
  Severity OnEnd(Thresholds);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  int64_t updates_ = 0;
  double first_scale_ = 0;
  double scale_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NEVER_CALIBRATED_H_
