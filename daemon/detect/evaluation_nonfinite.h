// Rule 70, evaluation_nonfinite: the loss of an evaluation is NaN or infinite,
// while the training is judged by its own.

#ifndef NANWATCH_DETECT_EVALUATION_NONFINITE_H_
#define NANWATCH_DETECT_EVALUATION_NONFINITE_H_

#include "detect/context.h"
#include "detect/told_since.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class EvaluationNonfinite {
 public:
  static const RuleSpec kSpec;

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  ToldSince told_;
  OpNameText name_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_EVALUATION_NONFINITE_H_
