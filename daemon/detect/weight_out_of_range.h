// Rule 60, weight_out_of_range: a finite weight became so large that its square
// is no number of fp32. What a flipped bit of an exponent makes of a weight, or
// the last steps of a training that diverges.

#ifndef NANWATCH_DETECT_WEIGHT_OUT_OF_RANGE_H_
#define NANWATCH_DETECT_WEIGHT_OUT_OF_RANGE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class WeightOutOfRange {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kLimit };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  float largest_ = 0;  // when it was found
  float others_ = -1;  // of the other weights of that step; -1: not known
  float before_ = -1;  // of this tensor, at the last look that was below limit
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_WEIGHT_OUT_OF_RANGE_H_
