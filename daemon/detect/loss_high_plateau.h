// Rule 35, loss_high_plateau: what the training had learned is lost, and stays
// lost. It sees what loss_spike cannot: a loss that creeps up so slowly that
// its own recent level follows.
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
//
// Where all is over, a loss that is high to the end and shows no way back is
// critical after two blocks, and a language model's that is far above its
// best a warning: however slowly it rose.
//
// A restart that goes on with the steps of the attempt before goes on with its
// levels: a loss that begins far above them is a checkpoint that was not
// loaded, and is told after one block.

#ifndef NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_
#define NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_

#include <array>
#include <cstdint>
#include <optional>

#include "detect/context.h"
#include "detect/course.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossHighPlateau {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  static constexpr bool kOfOneLoss = true;
  enum Threshold {
    kLostShare,
    kHold,
    kCriticalHold,
    kGuessing,
    kGuessingSteps,
    kClear,
    kRisen,
    kBlown,
    kCriticalSteps
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  // Two blocks without a way back are enough where none follows.
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;
  // For the attempt that follows; absent: no block is full.
  std::optional<LossReached> Reached() const;

 private:
  void GoOn(const LossReached& before, int64_t step);
  // Half of those of a block that is not full yet are below.
  bool GoesBackTo(float level) const;
  // A language model's loss stands far above its best at the end.
  bool EndsHigh() const;
  // A block of losses is full; `step` of its last.
  Severity CloseBlock(int64_t step, Thresholds t);
  // `step` is that of the newest loss.
  Severity TriggerOf(Severity ceiling, int64_t step, Thresholds t) const;
  int64_t FirstHigh(float usual, int64_t last) const;
  // Every block since the restart was high.
  bool BeginsHigh() const { return resumed_ && high_ == since_; }
  // And not the one before it.
  bool LostAtRestart() const {
    return BeginsHigh() && level_ - before_ >= (level_ - best_) / 2;
  }
  // What the newest level may be called if it stays; kNone: it is not high.
  Severity Ceiling(Thresholds t) const;
  Severity AboveAll(Thresholds t) const;
  void SetFirst();
  // What a loss worse than guessing is called; kNone: it is none.
  Severity Guesses(float loss, int64_t step, Thresholds t);
  // The level that a loss left when it became worse than guessing.
  float LevelBefore() const { return blocks_ > 0 ? healthy_ : lowest_; }

  Episode episode_;
  Course course_;  // of the blocks that are high, in a row
  std::array<float, RobustBaseline::kBlock> block_{};
  float first_ = 0;
  float best_ = 0;
  float noise_ = 0;       // usual spread within a block, of healthy ones
  float level_ = 0;       // of the newest block
  float stood_at_ = 0;    // of the newest high one
  float untrained_ = -1;  // loss of guessing; 0: no language model; -1: unknown
  float lowest_ = 0;      // loss so far; 0: none
  float loss_ = 0;        // the newest above untrained_
  float newest_ = 0;      // loss
  int32_t guessing_ = 0;  // steps in a row above untrained_
  Course guess_course_;   // of those
  float guess_from_ = 0;  // the level that they left
  float guess_peak_ = 0;
  int64_t guess_step_ = 0;  // of the first of them
  float healthy_ = 0;       // of the newest block that was not high
  float before_ = 0;        // the same before the restart
  // The newest healthy block: its last losses may be high already.
  std::array<float, RobustBaseline::kBlock> last_healthy_{};
  int16_t filled_ = 0;
  int16_t blocks_ = 0;  // saturates
  int16_t since_ = 0;   // of those, since the restart; saturates
  int16_t high_ = 0;    // blocks in a row, saturates
  int16_t stood_ = 0;   // of the newest high level, also when it is over
  bool guesses_ : 1 = false;
  bool away_ : 1 = false;     // worse than guessing, and not back since
  bool to_end_ : 1 = false;   // it was high when all was over
  bool means_ : 1 = false;    // step lines are means over the steps they cover
  bool resumed_ : 1 = false;  // goes on with what was reached before
  bool not_loaded_ : 1 = false;   // the finding is about the restart
  bool ends_high_ : 1 = false;    // about the end
  bool before_high_ : 1 = false;  // the attempt before ended with a high level
  int64_t last_step_ = -1;        // with a loss
  int64_t first_step_ = 0;        // of the high level
  int64_t block_step_ = 0;        // of the block's first loss
  int64_t healthy_from_ = 0;      // of the first loss of healthy_
  int64_t healthy_step_ = 0;      // of the last loss of healthy_
  int64_t before_step_ = 0;       // of the last loss of before_
  int64_t best_step_ = 0;         // of the last loss of best_
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_
