// Rule 58, clipped_before_unscaling: gradients were clipped while they were
// multiplied by the loss scale. Their norm is then the limit divided by the
// scale: every update is cut to it, and moves with the scale.

#ifndef NANWATCH_DETECT_CLIPPED_BEFORE_UNSCALING_H_
#define NANWATCH_DETECT_CLIPPED_BEFORE_UNSCALING_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ClippedBeforeUnscaling {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  enum Threshold { kHold };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // A limit stands in the norm times the scale, or in the norm itself: a log
  // may print what clipping left of the norm.
  bool IsLimit(double norm) const;

  Episode episode_;
  double limit_ = 0;    // norm times scale, of the first of those in a row
  double scale_ = 0;    // of the newest
  int64_t since_ = 0;   // step of the first of those in a row
  int32_t same_ = 0;    // updates in a row
  bool moved_ = false;  // the scale did meanwhile, and the norm against it
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_CLIPPED_BEFORE_UNSCALING_H_
