// Rule 64, loss_impossible: a cross-entropy is below 0, where none can be, or
// a loss is huge from the first record on.

#ifndef NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_
#define NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossImpossible {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kNegativeLossBit;
  static constexpr bool kOfOneLoss = true;
  enum Threshold { kBelow, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const {
    return guess_ < 0 || episode_.held() > 0 || episode_.open();
  }
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  double loss_ = 0;   // the newest such
  float guess_ = -1;  // what guessing costs (LossOfClasses); -1: no loss yet
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_
