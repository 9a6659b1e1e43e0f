// Rule 49, replica_divergence: data-parallel replicas are not the same any
// more, by their digests or their gradient norms.

#ifndef NANWATCH_DETECT_REPLICA_DIVERGENCE_H_
#define NANWATCH_DETECT_REPLICA_DIVERGENCE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/op_name_text.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ReplicaDivergence {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kAgree, kDiffer, kLearn, kHold, kNever, kClear };

  Severity OnAligned(const AlignedContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  struct Range {
    double lowest = 0;
    double highest = 0;
    int64_t step = 0;
    bool parts() const { return lowest != highest; }
  };

  Severity JudgeDigests(const AlignedContext& c, Thresholds t);
  Severity JudgeNorms(const AlignedStep& s, Thresholds t);

  Episode episode_;
  OpNameText op_;  // that alone differed at first; empty: not known
  Range norms_;
  Range rates_;             // that parted last
  int64_t equal_step_ = 0;  // the newest before digests differed
  int32_t odd_rank_ = -1;   // -1: no majority to be odd to
  int32_t digests_ = 0;
  int32_t lower_rank_ = -1;
  int32_t higher_rank_ = -1;
  int32_t agreed_ = 0;     // steps with equal norms, saturating
  int32_t differing_ = 0;  // steps in a row with norms that differ
  int32_t unequal_ = 0;    // comparisons of digests, none equal so far
  bool equal_once_ = false;
  bool by_digest_ = false;
  bool apart_ = false;  // norms differ, and never agreed
  bool alike_ = false;  // that they are replicas is not declared
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_REPLICA_DIVERGENCE_H_
