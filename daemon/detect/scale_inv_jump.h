// Rule 43, scale_inv_jump: the scale of an FP8 tensor jumps again and again, so
// that delayed scaling is always behind. One jump follows one outlier: that is
// what it is for.

#ifndef NANWATCH_DETECT_SCALE_INV_JUMP_H_
#define NANWATCH_DETECT_SCALE_INV_JUMP_H_

#include "detect/bit_window.h"
#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleInvJump {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kRatio, kJumps, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  BitWindow<64> jumps_;
  double before_ = 0;
  double after_ = 0;
  int64_t update_ = -1;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_INV_JUMP_H_
