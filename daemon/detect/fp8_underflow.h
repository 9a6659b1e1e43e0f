// Rule 42, fp8_underflow: more of an FP8 tensor is zero than usual. By how much
// it rose, not how much it is: the output of a ReLU is half zeros.

#ifndef NANWATCH_DETECT_FP8_UNDERFLOW_H_
#define NANWATCH_DETECT_FP8_UNDERFLOW_H_

#include "detect/context.h"
#include "detect/near_updates.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class Fp8Underflow {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kRise, kHold, kClearRise, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  double zeros_ = 0;
  double usual_ = 0;
  NearUpdates seen_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_FP8_UNDERFLOW_H_
