// Rule 38, update_ratio: an update changes the weights by too much to keep
// anything of what they knew, or by less than their own precision. Programs
// differ in what they call the norm of an update, so a high one is believed
// only when the norm of the weights moves as well, which it does by ratio^2 / 2
// an update at least where weights grow freely.

#ifndef NANWATCH_DETECT_UPDATE_RATIO_H_
#define NANWATCH_DETECT_UPDATE_RATIO_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UpdateRatio {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kUpdateNorm);
  enum Threshold { kWarning, kCritical, kHold, kTooSmall, kSmallHold, kClear };
  static constexpr int kSettle = 100;  // updates that are not judged; ours

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Severity Judge(double ratio, double weights, bool low_rate, Thresholds t);

  Episode episode_;
  double ratio_ = 0;
  double weights_from_ = 0;  // their norm hold updates ago in a high streak
  int32_t updates_ = 0;
  int32_t high_ = 0;       // in a row above warning
  int32_t very_high_ = 0;  // in a row above critical
  int32_t small_ = 0;      // in a row below too_small
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UPDATE_RATIO_H_
