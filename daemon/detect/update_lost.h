// Rule 63, update_lost: weights in 16 bits that have no copy in more hardly
// change any more: their updates are less than half the distance to the next
// number that the format has.

#ifndef NANWATCH_DETECT_UPDATE_LOST_H_
#define NANWATCH_DETECT_UPDATE_LOST_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UpdateLost {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUpdateFactsBit;
  enum Threshold { kShare, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  float share_ = 0;
  float rate_ = 0;  // at the measure before
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UPDATE_LOST_H_
