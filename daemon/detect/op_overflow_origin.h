// Rule 18, op_overflow_origin: an op with clean inputs has a bad output: the
// trouble begins there. While a scaler searches its scale, or answers an
// isolated overflow by a skipped step, that is what scalers are for, and only
// said for information; NaN is never.

#ifndef NANWATCH_DETECT_OP_OVERFLOW_ORIGIN_H_
#define NANWATCH_DETECT_OP_OVERFLOW_ORIGIN_H_

#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OpOverflowOrigin {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  uint64_t nan_ = 0;
  uint64_t inf_ = 0;
  uint64_t saturated_ = 0;
  uint64_t elements_ = 0;
  double scale_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OP_OVERFLOW_ORIGIN_H_
