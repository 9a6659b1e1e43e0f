// Rule 10, scale_stuck: a dynamic loss scale stands still though nothing
// overflows: its update() is not called, or what it counts is lost again and
// again. Nothing breaks by it; small gradients underflow that a higher scale
// would keep.

#ifndef NANWATCH_DETECT_SCALE_STUCK_H_
#define NANWATCH_DETECT_SCALE_STUCK_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleStuck {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kIntervals, kAssumedIntervals };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double scale_ = 0;
  int64_t interval_ = 0;
  int64_t first_step_ = 0;  // of the series
  int64_t quiet_ = 0;       // updates of an unbroken series
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_STUCK_H_
