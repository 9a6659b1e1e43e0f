// ScaleAdvice: headroom in bits and the loss scale that would suit the
// gradients, for the rules that speak of underflow.

#ifndef NANWATCH_DETECT_SCALE_ADVICE_H_
#define NANWATCH_DETECT_SCALE_ADVICE_H_

#include "detect/context.h"
#include "model/finding.h"

namespace nanwatch {

// Trivially copyable.
struct ScaleAdvice {
  bool known = false;   // ranges of gradients were collected
  double headroom = 0;  // bits to the largest number of fp16
  int32_t bits = 0;     // by which the scale is best multiplied
  double scale = 0;     // the present one; 0: not known
};

// From the gradients of this step.
ScaleAdvice AdviceFrom(const StepContext& c);
// A sentence and numbers (headroom, and recommended_scale where the present one
// is known), added to what the finding says. Nothing where it is not known.
void Say(const ScaleAdvice& advice, Finding* finding);

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_ADVICE_H_
