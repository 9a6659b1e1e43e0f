// Rule 36, loss_not_decreasing: after so many steps the loss is still where it
// began. It asks once, of the beginning: late in a training a loss that falls
// by less than its noise is what everybody expects, and a rule on every window
// of 2000 steps speaks of nearly every long run. A run that was resumed did its
// falling before.
//
// Levels are RobustBaseline's, of 128 losses. "Not decreased" is said only when
// the noise leaves no room for a decrease of min_share: two medians of 128
// values differ by 0.31 spreads in 5 % of all cases. So it speaks of a loss
// that stands, and not of one that falls slowly: the price of never being
// wrong.
//
// A language model that guesses has learned nothing at all, which each of them
// does within some hundred steps: there half of the steps, and 64 losses, are a
// warning.

#ifndef NANWATCH_DETECT_LOSS_NOT_DECREASING_H_
#define NANWATCH_DETECT_LOSS_NOT_DECREASING_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossNotDecreasing {
 public:
  static const RuleSpec kSpec;
  static constexpr bool kOfOneLoss = true;
  enum Threshold { kSteps, kMinShare };
  // An attempt that begins at a later step was resumed.
  static constexpr int64_t kResumed = 1000;  // steps; ours

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  void Begin(const StepContext& c);
  bool Stands(int64_t step, Thresholds t);
  // It guesses, and nothing else so far.
  bool Guesses(int64_t step, Thresholds t) const;

  // The same in all records so far, without a gradient. Of each record once.
  bool IsFrozen(const StepRecord& record, float loss);

  static constexpr float kMoved = -1;

  Episode episode_;
  RobustBaseline level_;
  float first_ = 0;   // level of the first 128
  float start_ = 0;   // of the first 16
  float frozen_ = 0;  // the loss of all records so far; kMoved: there are two
  int64_t first_step_ = 0;
  int32_t records_ = 0;
  bool begun_ = false;
  bool froze_ = false;     // the loss was the same for so long, and told
  bool rewards_ = false;   // it trains on rewards
  bool language_ = false;  // the loss is a language model's
  bool settled_ = false;   // it fell, or is not to be judged
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_NOT_DECREASING_H_
