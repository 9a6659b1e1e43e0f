// Rule 12, scale_rank_mismatch: ranks that must agree use different loss
// scales. Ranks without a scale at this step are neither equal nor different.

#ifndef NANWATCH_DETECT_SCALE_RANK_MISMATCH_H_
#define NANWATCH_DETECT_SCALE_RANK_MISMATCH_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleRankMismatch {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kHold, kClear };

  Severity OnAligned(const AlignedContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  double min_ = 0;
  double max_ = 0;
  int32_t min_rank_ = -1;
  int32_t max_rank_ = -1;
  int32_t odd_rank_ = -1;  // as the finding opened
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_RANK_MISMATCH_H_
