// Rule 57, lr_skip_desync: the learning rate moves on at updates that
// were skipped, so that its schedule runs ahead of the optimizer: the warm-up
// is shorter than was meant, and ends with fewer updates at a low rate.
//
// Records show the rate before or after the scheduler's step. Either way a
// streak of n skips with a schedule that waits for the optimizer shows one move
// among its n + 1 transitions at most (the move of its good neighbour); every
// further one is a step ahead. A rate that stands, or that is printed with too
// few digits, shows none.

#ifndef NANWATCH_DETECT_LR_SKIP_DESYNC_H_
#define NANWATCH_DETECT_LR_SKIP_DESYNC_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LrSkipDesync {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kAhead, kShare };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  void Follow(const StepRecord& record, bool lost);

  Episode episode_;
  double rate_ = -1;  // of the record before; -1: it had none
  int64_t step_ = 0;
  int64_t updates_ = 0;  // with a rate
  int64_t ahead_ = 0;    // steps of the schedule at skipped updates
  int32_t moves_ = 0;    // of the rate in the present streak of skips
  bool lost_ = false;    // the record before
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LR_SKIP_DESYNC_H_
