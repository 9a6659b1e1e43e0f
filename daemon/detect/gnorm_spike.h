// Rule 27, gnorm_spike: the gradient norm is far above its own recent level, by
// its logarithm against a robust baseline (RobustBaseline of log2 of the norm).
// Real spikes recover within tens of steps, so a single one is never critical:
// a warning leads, and only a level that stays is critical. Skipped attempts
// have no gradient norm worth judging.

#ifndef NANWATCH_DETECT_GNORM_SPIKE_H_
#define NANWATCH_DETECT_GNORM_SPIKE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GnormSpike {
 public:
  static const RuleSpec kSpec;
  enum Threshold {
    kWarningZ,
    kCriticalZ,
    kMinRatio,
    kCriticalHold,
    kClearZ,
    kClear
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  RobustBaseline baseline_;
  float norm_ = 0;
  float z_ = 0;
  float usual_ = 0;   // log2
  int32_t held_ = 0;  // attempts in a row at the critical level
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GNORM_SPIKE_H_
