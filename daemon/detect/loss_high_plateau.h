// Rule 35, loss_high_plateau: what the training had learned is lost, and stays
// lost. It sees what rule 34 cannot: a loss that creeps up so slowly that its
// own recent level follows.
//
// Losses come in blocks of 16, each with its median. The best level is the
// lowest median so far. A block is high when at least lost_share of what was
// learned (the first level - the best level) is lost again, or it is risen
// times the best and a fifth of what was learned is lost. Only runs that
// learned are judged so: the best level is below half of the first one, by 8
// times the noise. A generator, a critic or a policy, whose losses rise in
// health, fall far below neither; nor does a run that was resumed. Those, and
// whoever learned little, are judged by the first level: far above it there is
// nothing to be had.
//
// For a language model there is an absolute bound: a loss above that of
// guessing, ln(vocabulary), says at once that nothing is left, also with hardly
// any history. The run tells its vocabulary (settings: untrained_loss); of the
// programs that train nothing else the smallest usual one is taken.

#ifndef NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_
#define NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_

#include <array>
#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossHighPlateau {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  enum Threshold {
    kLostShare,
    kHold,
    kCriticalHold,
    kGuessing,
    kGuessingSteps,
    kClear,
    kRisen,
    kBlown
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // A block of losses is full.
  Severity CloseBlock(Thresholds t);
  // What the newest level may be called if it stays; kNone: it is not high.
  Severity Ceiling(Thresholds t) const;
  Severity AboveAll(Thresholds t) const;
  void SetFirst();
  // Worse than guessing?
  bool Guesses(float loss, int64_t step, Thresholds t);

  Episode episode_;
  std::array<float, RobustBaseline::kBlock> block_{};
  float first_ = 0;
  float best_ = 0;
  float noise_ = 0;       // usual spread within a block, of healthy ones
  float level_ = 0;       // of the newest block
  float stood_at_ = 0;    // of the newest high one
  float untrained_ = -1;  // loss of guessing; 0: no language model; -1: unknown
  float lowest_ = 0;      // loss so far; 0: none
  float loss_ = 0;        // the newest above untrained_
  int32_t guessing_ = 0;  // steps in a row above untrained_
  int16_t filled_ = 0;
  int16_t blocks_ = 0;  // saturates
  int16_t high_ = 0;    // blocks in a row, saturates
  int16_t stood_ = 0;   // of the newest high level, also when it is over
  bool guesses_ = false;
  bool means_ = false;      // step lines are means over the steps they cover
  int64_t last_step_ = -1;  // with a loss
  int64_t first_step_ = 0;  // of the high level
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_
