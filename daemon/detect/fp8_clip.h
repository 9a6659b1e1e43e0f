// Rule 41, fp8_clip: an FP8 tensor with one scale is clipped: its scale lags
// behind its values.

#ifndef NANWATCH_DETECT_FP8_CLIP_H_
#define NANWATCH_DETECT_FP8_CLIP_H_

#include "detect/context.h"
#include "detect/near_updates.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class Fp8Clip {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kShare, kBeyond, kHold, kClearShare, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  double share_ = 0;   // of elements at the largest number
  double beyond_ = 0;  // amax over the largest number that fits; 0: unknown
  NearUpdates seen_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_FP8_CLIP_H_
