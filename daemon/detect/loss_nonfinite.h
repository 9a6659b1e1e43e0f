// Rule 15, loss_nonfinite: the loss is NaN or infinite. Critical when the
// update was applied, or when it happens twice in a row; a single one under an
// attempt that the scaler skipped is a warning, and during calibration a note.
// In saturation mode a finite loss proves nothing, so this rule says nothing
// there.

#ifndef NANWATCH_DETECT_LOSS_NONFINITE_H_
#define NANWATCH_DETECT_LOSS_NONFINITE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossNonfinite {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  enum Threshold { kCriticalStreak, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double loss_ = 0;
  int64_t streak_ = 0;
  Fate fate_ = Fate::kUnknown;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_NONFINITE_H_
