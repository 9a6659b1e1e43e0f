// LossLift: did the loss leave its level of just before, and does it stay away?
// A baseline of the last 128 losses is as wide as the descent that they hold,
// and sees little in a log of 200 lines, or where the loss still falls.
//
// The level is a median of 16 losses: of the newest, which a descent reaches
// last, or of those about 30 ago where they are lower, which a rise reaches
// last. A loss that rose from these to those, as a generator's does, has none.
// The limit is 1.25 times it, and three times the noise of single losses. It is
// lifted from the first loss above the limit on, and until three in a row are
// below it; one in three may be. Level and limit stand meanwhile. Where half of
// the rise is gone again, as after a stage of a curriculum, what is left is the
// level.

#ifndef NANWATCH_DETECT_LOSS_LIFT_H_
#define NANWATCH_DETECT_LOSS_LIFT_H_

#include <cstdint>

#include "detect/loss_course.h"
#include "detect/loss_tail.h"
#include "detect/robust_baseline.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
class LossLift {
 public:
  // The next loss, which `tail` ends with. REQUIRES: it is finite.
  void Add(float loss, const LossTail& tail);

  bool lifted() const { return lifted_; }
  // With the newest loss it is back from a spike, which stood out of a level
  // that hardly moves.
  bool spiked() const { return spiked_; }
  // Of the newest lift. REQUIRES: there was one.
  int64_t step() const { return step_; }  // of its first loss
  float from() const { return level_; }
  float peak() const { return peak_; }
  float deviations() const;  // of the peak, of a logarithm
  int32_t records() const;
  float last() const { return course_.last(); }  // mean of the last third
  // It shows no way back; nor did it come so far little by little, as the loss
  // of a critic does.
  bool Stays() const;

 private:
  // A level with its spread, a share of it.
  void SetLevel(const LossTail& tail, const Level& level);
  void Follow(float loss, const LossTail& tail);
  bool IsSpike() const;
  void ComeBack(float loss);
  void Begin(float loss, const LossTail& tail);

  LossCourse course_;  // of the lift
  float level_ = 0;
  float spread_ = 0;  // noise of single losses, a share of the level
  float limit_ = 0;   // 0: no level is known
  float peak_ = 0;
  int8_t misses_ = 0;
  int8_t after_ = 0;  // losses since it was lifted, while it comes back
  bool lifted_ : 1 = false;
  bool comes_back_ : 1 = false;  // it may have been a spike
  bool spiked_ : 1 = false;
  int64_t step_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_LIFT_H_
