// Rule 17, optimizer_state_nonfinite: a moment of the optimizer holds NaN or
// infinities. Moments are running averages: they never lose it again, and every
// later update of these elements is NaN (or, for an infinite second moment, 0:
// the parameter is frozen and nothing else shows it). It stays until the
// attempt ends.

#ifndef NANWATCH_DETECT_OPTIMIZER_STATE_NONFINITE_H_
#define NANWATCH_DETECT_OPTIMIZER_STATE_NONFINITE_H_

#include "detect/context.h"
#include "detect/nonfinite_tensor.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OptimizerStateNonfinite {
 public:
  static const RuleSpec kSpec;

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  NonfiniteTensor tensor_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OPTIMIZER_STATE_NONFINITE_H_
