// Rule 16, weight_nonfinite: a parameter tensor holds NaN or infinities. An
// optimizer never repairs that: it stays until the attempt ends.

#ifndef NANWATCH_DETECT_WEIGHT_NONFINITE_H_
#define NANWATCH_DETECT_WEIGHT_NONFINITE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class WeightNonfinite {
 public:
  static const RuleSpec kSpec;

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  uint64_t nan_ = 0;
  uint64_t inf_ = 0;
  uint64_t elements_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_WEIGHT_NONFINITE_H_
