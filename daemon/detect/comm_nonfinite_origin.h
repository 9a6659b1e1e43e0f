// Rule 24, comm_nonfinite_origin: a collective made NaN or infinities out of
// inputs that were clean on every rank.

#ifndef NANWATCH_DETECT_COMM_NONFINITE_ORIGIN_H_
#define NANWATCH_DETECT_COMM_NONFINITE_ORIGIN_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class CommNonfiniteOrigin {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kHold, kClear };

  Severity OnAligned(const AlignedContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  int32_t ranks_ = 0;      // with a bad result at the newest such step
  int32_t nan_ranks_ = 0;  // of those, with a NaN
  int32_t first_rank_ = -1;
  int32_t held_ = 0;  // such steps in a row
  bool skipped_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_COMM_NONFINITE_ORIGIN_H_
