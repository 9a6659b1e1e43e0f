// Rule 2, scale_below_one: a dynamic loss scale below 1 shrinks
// gradients instead of protecting them. A few scalers (fairseq, floor 1e-4) are
// healthy there, so it is critical only when overflows go on below 1 or the
// scale is far below it.

#ifndef NANWATCH_DETECT_SCALE_BELOW_ONE_H_
#define NANWATCH_DETECT_SCALE_BELOW_ONE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleBelowOne {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kHold, kCriticalOverflows, kCriticalScale, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double scale_ = 0;
  int32_t below_ = 0;      // attempts in a row
  int32_t overflows_ = 0;  // of those
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_BELOW_ONE_H_
