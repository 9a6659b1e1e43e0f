// Rule 40, update_norm_spike: updates are far larger than they were. Those of
// an adaptive optimizer are of a steady size, and when they are not, a spike of
// the loss often follows. It leads, so it only warns.

#ifndef NANWATCH_DETECT_UPDATE_NORM_SPIKE_H_
#define NANWATCH_DETECT_UPDATE_NORM_SPIKE_H_

#include <cstdint>
#include <optional>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/series.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UpdateNormSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kUpdateNorm);
  enum Threshold { kNats, kRatio, kHold, kClearRatio, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // Returns the norm of the update, as a share of the learning rate where there
  // is one. Absent: nothing to judge.
  std::optional<float> Size(const StepContext& c);

  Episode episode_;
  Series sizes_;
  float norm_ = 0;        // of the newest update that stands out
  float times_ = 1;       // its usual size
  float nats_ = 0;        // evidence
  bool by_rate_ = false;  // sizes are shares of the learning rate
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UPDATE_NORM_SPIKE_H_
