// Rule 30, grad_vanishing: the gradient norm falls to next to nothing although
// the loss does not. Against the run's own level: an absolute one would depend
// on the number of parameters, and a slow decay is what training does. To
// converge is no fault, be it to a loss of 0 or to one that noise leaves. Or it
// is exactly 0 from the first records on, and the loss does not fall.

#ifndef NANWATCH_DETECT_GRAD_VANISHING_H_
#define NANWATCH_DETECT_GRAD_VANISHING_H_

#include <cmath>
#include <cstdint>
#include <optional>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/glide.h"
#include "detect/no_gradient.h"
#include "detect/usual.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GradVanishing {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  enum Threshold { kRatio, kHold, kMinSamples, kClearRatio, kClear, kFar };

  Severity OnStep(const StepContext& c, Thresholds t);
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // Takes in a record with a healthy norm (log2).
  void Learn(const StepContext& c, std::optional<double> loss);
  // The norm (log2) has come far down from the highest that was usual, and the
  // loss has not.
  bool IsFar(float norm, const StepContext& c, double ratio) const;
  // Of a record with a low norm.
  void NoteRise(double loss);
  // Of a norm of 0 before the usual one is known.
  Severity OnNone(const StepContext& c, std::optional<double> loss,
                  Thresholds t);
  void DescribeNone(Finding* finding) const;
  // Is a low norm no wonder at this loss?
  bool IsConverged(double loss) const;

  Episode episode_;
  NoGradient none_;        // norms of 0 from the start on
  double loss_ = 0;        // at the newest healthy norm
  int64_t near_step_ = 0;  // before the low norms, or that left the peak
  Glide glide_;
  float norm_ = 0;           // the newest low one
  Usual usual_;              // log2 of the norm
  Usual usual_loss_;         // log2 of its size
  float usual_norm_ = 0;     // before the low one
  float peak_ = -HUGE_VALF;  // highest usual norm, log2
  float newest_loss_ = 0;
  float highest_loss_ = -200;  // that was usual, log2
  int32_t held_ = 0;           // low norms in a row
  int16_t rose_ = 0;           // losses beside them that rose; saturates
  bool loss_gone_ = false;     // from `loss_` to exactly 0 at once
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GRAD_VANISHING_H_
