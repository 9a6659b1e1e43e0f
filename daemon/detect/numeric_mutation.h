// Rule 26, numeric_mutation: an op's output is suddenly far larger than its
// input. Ops that always amplify (normalisation of small values, a scaled loss)
// are as they are.

#ifndef NANWATCH_DETECT_NUMERIC_MUTATION_H_
#define NANWATCH_DETECT_NUMERIC_MUTATION_H_

#include "detect/context.h"
#include "detect/near_updates.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class NumericMutation {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kRatio, kHold, kNearTop, kClearRatio, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  OpEpisode episode_;
  double input_ = 0;
  double output_ = 0;
  NearUpdates seen_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NUMERIC_MUTATION_H_
