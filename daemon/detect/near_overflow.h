// Rule 25, near_overflow: activations or weights come near the largest number
// of their dtype. Gradients do not count: a dynamic scaler takes them to the
// edge on purpose; nor FP8, which is scaled to it.

#ifndef NANWATCH_DETECT_NEAR_OVERFLOW_H_
#define NANWATCH_DETECT_NEAR_OVERFLOW_H_

#include "detect/context.h"
#include "detect/near_updates.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class NearOverflow {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kRatio, kHold, kClearRatio, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  double abs_max_ = 0;
  double limit_ = 0;
  NearUpdates seen_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NEAR_OVERFLOW_H_
