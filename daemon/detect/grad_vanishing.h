// Rule 30, grad_vanishing: the gradient norm falls to next to nothing although
// the loss does not. Against the run's own level: an absolute one would depend
// on the number of parameters, and a slow decay is what training does. To
// converge is no fault, be it to a loss of 0 or to one that noise leaves.

#ifndef NANWATCH_DETECT_GRAD_VANISHING_H_
#define NANWATCH_DETECT_GRAD_VANISHING_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/robust_baseline.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GradVanishing {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  enum Threshold { kRatio, kHold, kMinSamples, kClearRatio, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  bool GlidesOnTo(float norm_log2) const;
  // From a record with a healthy norm; the loss, if there is one, is finite.
  void Learn(float norm_log2, std::optional<double> loss);
  // Whether a low norm is no wonder at this loss.
  bool IsConverged(double loss) const;

  Episode episode_;
  RobustBaseline usual_;  // log2 of the norm
  double norm_ = 0;
  float level_ = 0;       // log2, as the trouble began
  float newest_ = 0;      // log2 of the newest healthy norm
  float fall_ = 0;        // from the one before
  float usual_loss_ = 0;  // log2 of its size, a mean
  double loss_ = 0;       // at the newest healthy norm
  // The loss where a glide began, and its lowest since.
  float began_ = 0;
  float lowest_ = std::numeric_limits<float>::infinity();
  int32_t held_ = 0;
  int16_t losses_ = 0;      // in the mean
  int16_t glided_ = 0;      // records in a row without noise, saturates
  bool loss_gone_ = false;  // from `loss_` to exactly 0 at once
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GRAD_VANISHING_H_
