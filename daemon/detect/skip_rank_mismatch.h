// Rule 13, skip_rank_mismatch: some ranks of a group skipped an update that
// others applied: their weights differ from there on. Ranks that do not say are
// neither.

#ifndef NANWATCH_DETECT_SKIP_RANK_MISMATCH_H_
#define NANWATCH_DETECT_SKIP_RANK_MISMATCH_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class SkipRankMismatch {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kClear };

  Severity OnAligned(const AlignedContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  int32_t skipped_ = 0;
  int32_t applied_ = 0;
  int32_t skipped_rank_ = -1;
  int32_t applied_rank_ = -1;
  int64_t step_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SKIP_RANK_MISMATCH_H_
