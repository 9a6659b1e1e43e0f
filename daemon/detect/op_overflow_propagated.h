// Rule 19, op_overflow_propagated: an op got bad inputs, and passed them on or
// absorbed them. It explains how the trouble travels and never pages.

#ifndef NANWATCH_DETECT_OP_OVERFLOW_PROPAGATED_H_
#define NANWATCH_DETECT_OP_OVERFLOW_PROPAGATED_H_

#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OpOverflowPropagated {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  uint64_t passed_on_ = 0;
  uint64_t absorbed_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OP_OVERFLOW_PROPAGATED_H_
