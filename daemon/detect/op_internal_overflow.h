// Rule 22, op_internal_overflow: the device flag is set around an op whose
// elements are all clean: it overflowed inside, or in padding that the status
// does not cover. Said only when elements were looked at.

#ifndef NANWATCH_DETECT_OP_INTERNAL_OVERFLOW_H_
#define NANWATCH_DETECT_OP_INTERNAL_OVERFLOW_H_

#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OpInternalOverflow {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  uint64_t elements_ = 0;
  uint64_t padding_ = 0;
  uint64_t times_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OP_INTERNAL_OVERFLOW_H_
