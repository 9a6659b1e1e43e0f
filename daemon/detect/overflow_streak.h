// Rule 5, overflow_streak: updates overflow one after another, outside
// start-up calibration. Where overflowing updates are applied all the same
// (overflow check off) no training is lost by it; it is then said for
// information, and whether it is harmless is a matter of the ops.

#ifndef NANWATCH_DETECT_OVERFLOW_STREAK_H_
#define NANWATCH_DETECT_OVERFLOW_STREAK_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OverflowStreak {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kWarning, kCritical, kClear, kAtEnd };

  Severity OnStep(const StepContext& c, Thresholds t);
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  int64_t first_step_ = 0;  // of the newest streak
  int64_t since_ = 0;       // the same of the one that is told
  double scale_ = -1;       // -1: none in the records
  double row_scale_ = -1;   // the same, of the newest record
  int32_t streak_ = 0;
  int32_t row_ = 0;        // of the newest records; 0: the newest is good
  int32_t elsewhere_ = 0;  // overflows of the scaler's streak before this one
  int32_t to_floor_ = -1;  // updates; -1: no forecast
  bool applied_ = false;
  bool left_out_ = false;  // as IsLeftOut
  bool apart_ = false;     // steps without a record lie between them
  bool scaled_ = false;    // gradients were scaled at the newest
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OVERFLOW_STREAK_H_
