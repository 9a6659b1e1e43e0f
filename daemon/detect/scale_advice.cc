#include "detect/scale_advice.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {

ScaleAdvice AdviceFrom(const StepContext& c) {
  ScaleAdvice advice;
  if (c.gradients == nullptr) return advice;
  const auto headroom = c.gradients->range.headroom();
  const auto bits = c.gradients->range.BestBits();
  if (!headroom || !bits) return advice;
  advice.known = true;
  advice.headroom = *headroom;
  advice.bits = *bits;
  const bool none = c.run.scaler.kind == ScalingKind::kNone;
  // Gradients of layers with scales of their own are held against 1.
  const double otherwise = c.layers != nullptr ? 1 : 0;
  advice.scale = none ? 1 : c.scaler.scale().value_or(otherwise);
  return advice;
}

void Say(const ScaleAdvice& advice, Finding* finding) {
  if (!advice.known) return;
  const double tenths = std::round(10 * advice.headroom) / 10;
  finding->sentence += advice.headroom >= 0
                           ? Sentence(" The largest gradient is ", tenths,
                                      " bits below the largest fp16 number")
                           : Sentence(" The largest gradient is ", -tenths,
                                      " bits above the largest fp16 number");
  finding->numbers.push_back({"headroom", advice.headroom, "bits"});
  if (advice.scale > 0 && advice.bits != 0) {
    const double better = std::ldexp(advice.scale, advice.bits);
    finding->sentence += Sentence("; a loss scale of ", better,
                                  " would suit (now ", advice.scale, ")");
    finding->numbers.push_back({"recommended_scale", better, ""});
  } else if (advice.bits != 0) {
    finding->sentence += Sentence("; a loss scale ", std::ldexp(1, advice.bits),
                                  " times the present one would suit");
  }
  finding->sentence += ".";
}

}  // namespace nanwatch
