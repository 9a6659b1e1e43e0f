// Rule 73, term_nonfinite: a term of the loss, or a metric, is NaN or infinite,
// and the loss that is printed beside it is not.

#ifndef NANWATCH_DETECT_TERM_NONFINITE_H_
#define NANWATCH_DETECT_TERM_NONFINITE_H_

#include "detect/context.h"
#include "detect/told_since.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class TermNonfinite {
 public:
  static const RuleSpec kSpec;

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  ToldSince told_;
  OpNameText name_;
  bool metric_ = false;  // it is none of the loss
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_TERM_NONFINITE_H_
