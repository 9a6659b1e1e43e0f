// Rule 69, rival_gone: one of two losses that work against each other is next
// to nothing, and the other learns nothing from it any more.

#ifndef NANWATCH_DETECT_RIVAL_GONE_H_
#define NANWATCH_DETECT_RIVAL_GONE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class RivalGone {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kRivalsBit;
  enum Threshold { kShare, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  float first_ = 0;  // loss that it began with; 0: not known
  float loss_ = 0;   // the newest that was low
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RIVAL_GONE_H_
