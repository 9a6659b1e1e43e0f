// Rule 21, op_saturation: finite elements sit exactly at the largest number of
// the dtype: an infinity that the device hides. In Inf/NaN mode such values are
// clamps that somebody wrote, and FP8 tensors are scaled to reach it: neither
// counts.

#ifndef NANWATCH_DETECT_OP_SATURATION_H_
#define NANWATCH_DETECT_OP_SATURATION_H_

#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OpSaturation {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  uint64_t saturated_ = 0;  // 0: known from the largest value only
  uint64_t elements_ = 0;
  double limit_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OP_SATURATION_H_
