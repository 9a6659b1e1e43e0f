// Rule 9, scale_limit_cycle: the loss scale goes up and down without end:
// growth follows so soon that no scale between is tried for long.

#ifndef NANWATCH_DETECT_SCALE_LIMIT_CYCLE_H_
#define NANWATCH_DETECT_SCALE_LIMIT_CYCLE_H_

#include "detect/bit_window.h"
#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleLimitCycle {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kTurns, kClearTurns };
  // Updates counted between two records at most: steps need not be updates.
  static constexpr int64_t kUnseen = 9;  // ours

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  BitWindow<20> turns_20_;
  BitWindow<200> turns_200_;
  double scale_ = 0;
  double low_ = 0;  // scales between the last turns
  double high_ = 0;
  int64_t update_ = 0;  // newest seen
  int8_t direction_ = 0;
  int16_t turns_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_LIMIT_CYCLE_H_
