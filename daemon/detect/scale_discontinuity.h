// Rule 14, scale_discontinuity: the scale changed in a way that its scaler
// never does, or stood where it always moves: a second update or none, a state
// not restored after a restart, or a scaler other than declared. It clears
// after a long while without another, because nobody can undo the jump itself.

#ifndef NANWATCH_DETECT_SCALE_DISCONTINUITY_H_
#define NANWATCH_DETECT_SCALE_DISCONTINUITY_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleDiscontinuity {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double scale_ = 0;
  double from_ = 0;
  double to_ = 0;
  int64_t count_ = 0;
  Impossible why_ = Impossible::kNone;  // of the newest
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_DISCONTINUITY_H_
