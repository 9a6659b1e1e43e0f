// Rule 73, term_nonfinite: a term of the loss is NaN or infinite, and the loss
// that is printed beside it is not.

#ifndef NANWATCH_DETECT_TERM_NONFINITE_H_
#define NANWATCH_DETECT_TERM_NONFINITE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/op_name_text.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class TermNonfinite {
 public:
  static const RuleSpec kSpec;

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpNameText name_;
  int64_t since_ = 0;  // step
  int64_t step_ = 0;   // the newest of the run
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_TERM_NONFINITE_H_
