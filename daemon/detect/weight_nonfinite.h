// Rule 16, weight_nonfinite: a parameter tensor holds NaN or infinities. An
// optimizer never repairs that: it stays until the attempt ends.

#ifndef NANWATCH_DETECT_WEIGHT_NONFINITE_H_
#define NANWATCH_DETECT_WEIGHT_NONFINITE_H_

#include "detect/context.h"
#include "detect/nonfinite_tensor.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class WeightNonfinite {
 public:
  static const RuleSpec kSpec;

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  NonfiniteTensor tensor_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_WEIGHT_NONFINITE_H_
