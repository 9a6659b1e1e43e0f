// Rule 27, gnorm_spike: the gradient norm is far above its own recent level.
// Level and evidence are the Series'. Skipped updates have no gradient norm
// worth judging.

#ifndef NANWATCH_DETECT_GNORM_SPIKE_H_
#define NANWATCH_DETECT_GNORM_SPIKE_H_

#include <cmath>
#include <cstdint>
#include <optional>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/pile_up.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GnormSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  static constexpr bool kOfOneLoss = true;
  enum Threshold {
    kNats,
    kCriticalNats,
    kMinRatio,
    kHold,
    kCriticalHold,
    kClearRatio,
    kClear,
    kCriticalSteps,
    kGrowth
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;
  bool Warns() const { return episode_.severity() >= Severity::kWarning; }
  // Norms in a row that stand out, the newest among them.
  int32_t spiked() const { return spiked_; }

 private:
  static Severity OfExcursion(const StepContext& c, Thresholds t);
  // It has converged, or learned all, and had such norms before.
  static bool IsMeaningless(const StepContext& c);
  // The loss is about as low as it ever was.
  static bool Learns(const StepContext& c);
  // Returns from where it grew little by little, so that its level followed:
  // a logarithm; absent: it did not.
  std::optional<float> GrownFrom(const StepContext& c, Thresholds t);

  Episode episode_;
  float norm_ = 0;   // the largest of the episode
  float nats_ = 0;   // evidence, at that one
  float usual_ = 0;  // norm
  int32_t spiked_ = 0;
  // Since the loss last fell by a tenth: ln of the lowest mean of 16 norms, and
  // of where the loss stood then.
  float lowest_ = HUGE_VALF;
  float learned_ = HUGE_VALF;
  float least_ = HUGE_VALF;  // the same, since the run settled
  bool grows_ = false;       // the finding is about a growth
  PileUp pile_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GNORM_SPIKE_H_
