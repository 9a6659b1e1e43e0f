// Rule 27, gnorm_spike: the gradient norm is far above its own recent level, by
// its logarithm against a robust baseline (RobustBaseline of log2 of the norm).
// Skipped updates have no gradient norm worth judging.

#ifndef NANWATCH_DETECT_GNORM_SPIKE_H_
#define NANWATCH_DETECT_GNORM_SPIKE_H_

#include <cstdint>

#include "detect/at_rest.h"
#include "detect/context.h"
#include "detect/episode.h"
#include "detect/last_digit.h"
#include "detect/rate_restart.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GnormSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  static constexpr bool kOfOneLoss = true;
  enum Threshold {
    kWarningZ,
    kCriticalZ,
    kMinRatio,
    kHold,
    kCriticalHold,
    kClearZ,
    kClear,
    kCriticalSteps
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;
  bool Warns() const { return episode_.severity() >= Severity::kWarning; }
  // Norms in a row that stand out, the newest among them.
  int32_t spiked() const { return spiked_; }

 private:
  // `above` the usual, log2.
  void Follow(float above);

  Episode episode_;
  RobustBaseline baseline_;
  AtRest rest_;
  RateRestart restart_;
  LastDigit digit_;  // where the norm is rounded, its last digit
  float norm_ = 0;   // the largest of the episode
  float z_ = 0;
  float usual_ = 0;        // log2
  float mean_ = 0;         // of what updates in a row are above it, log2
  float smooth_ = 0;       // the same of about the last eight of them
  int32_t spiked_ = 0;     // updates in a row at the warning level
  int32_t held_ = 0;       // updates in a row at the critical level
  int64_t held_step_ = 0;  // of the first of them
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GNORM_SPIKE_H_
