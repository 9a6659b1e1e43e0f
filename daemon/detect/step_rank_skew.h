// Rule 56, step_rank_skew: a rank counts other steps than the others. Records
// travel in batches, so what arrived last says little: steps are compared at
// the times of the records themselves, and a silent rank is stalled's.

#ifndef NANWATCH_DETECT_STEP_RANK_SKEW_H_
#define NANWATCH_DETECT_STEP_RANK_SKEW_H_

#include "detect/context.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class StepRankSkew {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kSteps, kHold, kClear };

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  double Skew(const TimeContext& c, int32_t* rank, int64_t* step) const;

  Severity severity_ = Severity::kNone;
  Time since_{};  // of the skew; epoch: none
  Time equal_since_{};
  int64_t opened_step_ = 0;
  int64_t last_step_ = 0;
  int64_t rank_step_ = 0;
  int64_t other_step_ = 0;
  int32_t rank_ = -1;
  int32_t seen_ = 0;  // times that the skew was seen in a row
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STEP_RANK_SKEW_H_
