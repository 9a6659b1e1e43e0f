// Rule 76, number_nonfinite: the weights' norm, the update's, what the
// optimizer was given, or the learning rate is NaN or infinite beside a finite
// loss. The loss, the gradient norm and the loss scale have rules of their own.

#ifndef NANWATCH_DETECT_NUMBER_NONFINITE_H_
#define NANWATCH_DETECT_NUMBER_NONFINITE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class NumberNonfinite {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kOddNumberBit;
  enum Threshold { kHold, kClear };

  bool Waits() const { return episode_.held() > 0; }
  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  StepField field_ = StepField::kParamNorm;  // the first one
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NUMBER_NONFINITE_H_
