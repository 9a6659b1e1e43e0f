// Rule 53, stalled: a connected rank sends no steps any more, or a lost one
// while others go on. When every rank is lost there is nobody to stall: the run
// ended without a close, which the engine says by itself. Before a rank's first
// record (compilation, loading) silence is only a warning.

#ifndef NANWATCH_DETECT_STALLED_H_
#define NANWATCH_DETECT_STALLED_H_

#include "detect/context.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class Stalled {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kSilence, kStepTimes, kClearSteps };

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Severity Judge(const TimeContext& c, Thresholds t);

  Severity severity_ = Severity::kNone;
  int32_t rank_ = -1;  // silent for the longest
  bool lost_ = false;
  double silent_s_ = 0;
  double limit_s_ = 0;
  int64_t opened_step_ = 0;
  int64_t last_step_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STALLED_H_
