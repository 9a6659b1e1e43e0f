// BadElements: what is bad in one op status, without what is meant to be there.

#ifndef NANWATCH_DETECT_BAD_ELEMENTS_H_
#define NANWATCH_DETECT_BAD_ELEMENTS_H_

#include <cstdint>

#include "detect/context.h"

namespace nanwatch {

struct BadElements {
  uint64_t nan = 0;
  uint64_t inf = 0;
  uint64_t saturated = 0;  // counted in saturation mode only
  uint64_t all() const { return nan + inf + saturated; }
  bool any() const { return all() > 0; }
};

// Not counted: -infinity that a mask put there on purpose (attention logits; by
// the op's type, or named in the configuration's engine.masked_ops),
// and the inputs of operations that only fill a buffer (receive, gather,
// empty): those are not initialised yet.
BadElements CountBad(const OpContext& c);

// True when any count or the largest value was collected, so that "no bad
// elements" means something.
bool LookedAt(const OpStatus& status);

// Activations and parameters; not gradients, whose size follows the loss scale.
inline bool IsForward(Slot slot) {
  return slot == Slot::kInput || slot == Slot::kOutput ||
         slot == Slot::kParameter;
}

// The scaler is searching its scale.
inline bool Calibrating(const OpContext& c) { return c.scaler.in_grace(); }

// A dynamic scaler meets the edge: an overflow or two, answered by a skipped
// step. Healthy runs have one a growth interval.
inline bool ScalerAnswers(const OpContext& c) {
  return c.scaler.dynamic() && c.scaler.overflowed() &&
         c.scaler.fate() == Fate::kLost && c.scaler.overflow_streak() <= 2;
}

// So does a program that leaves out such updates itself, and says so.
inline bool ProgramAnswers(const OpContext& c) {
  return c.record != nullptr && c.record->is(StepFlag::kSkipped) &&
         c.scaler.overflow_streak() <= 2;
}

// All that is bad of a forward status is -infinity, and the loss and the norm
// of the same update are finite and it went through: a mask, of an op whose
// type does not tell it, that what comes after takes in.
bool IsAbsorbedMask(const OpContext& c);

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_BAD_ELEMENTS_H_
