// Rule 58, clipped_before_unscaling: gradients were clipped while they were
// multiplied by the loss scale. Their norm is then the limit divided by the
// scale: every update is cut to it, and moves with the scale. Where the client
// saw it itself, that says it.

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
  static constexpr uint32_t kNeeds =
      Bit(StepField::kGradNorm) | kUpdateFactsBit;
  enum Threshold { kHold };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // A limit stands in the norm times the scale, or in the norm itself: a log
  // may print what clipping left of the norm.
  bool IsLimit(double norm) const;
  // Judges what the client saw of the update.
  Severity OnSeen(const StepContext& c, bool seen, Thresholds t);

  Episode episode_;
  double limit_ = 0;    // norm times scale, of the first of those in a row
  double scale_ = 0;    // of the newest
  int64_t since_ = 0;   // step of the first of those in a row
  int32_t same_ = 0;    // updates in a row
  int32_t seen_ = 0;    // updates in a row in which the client saw it
  int32_t told_ = 0;    // of them, when it was said last; 0: the norm says it
  bool moved_ = false;  // the scale did meanwhile, and the norm against it
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_CLIPPED_BEFORE_UNSCALING_H_
