// Rule 40, update_norm_spike: updates are far larger than they were. An
// adaptive optimizer divides by the size of its gradients, so the norm of its
// updates is steady, and when it is not a spike of the loss often follows. It
// is judged as a share of the learning rate, where that is collected, because a
// schedule moves both; by its logarithm, against a robust baseline
// (RobustBaseline). It leads, so it only warns.

#ifndef NANWATCH_DETECT_UPDATE_NORM_SPIKE_H_
#define NANWATCH_DETECT_UPDATE_NORM_SPIKE_H_

#include <cstdint>
#include <optional>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UpdateNormSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kUpdateNorm);
  enum Threshold { kRatio, kZ, kHold, kClearRatio, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // log2 of the update, a share of the learning rate where there is one.
  // Absent: nothing to judge.
  std::optional<float> Size(const StepContext& c);

  Episode episode_;
  RobustBaseline baseline_;
  float norm_ = 0;
  float above_ = 0;  // log2
  float z_ = 0;
  int32_t held_ = 0;  // updates in a row
  int64_t first_step_ = 0;
  bool by_rate_ = false;  // shares of the learning rate are in the baseline
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UPDATE_NORM_SPIKE_H_
