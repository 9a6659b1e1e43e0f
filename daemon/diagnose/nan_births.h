// Where a NaN, or an infinity that becomes one, was born: in the backward pass
// of a finite loss, or before, in the forward pass, the data or the weights.

#ifndef NANWATCH_DIAGNOSE_NAN_BIRTHS_H_
#define NANWATCH_DIAGNOSE_NAN_BIRTHS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/evidence.h"
#include "model/run.h"

namespace nanwatch {

struct Facts;

struct BackwardNan {
  int64_t step = 0;
  // Gradients of that step that hold NaN, as far as clients sent them; the one
  // that made it comes first. Empty: only the norm is known.
  std::vector<const OpEvidence*> gradients;
  // The program itself leaves such updates out, and nothing else is known.
  bool left_out = false;
};
// Returns nullopt where none is seen, or another trouble came before it.
std::optional<BackwardNan> FindBackwardNan(const Facts& f);

struct ForwardNan {
  // The first bad op on the way to it; null: only the loss is known.
  const OpEvidence* origin = nullptr;
  // The op that held the NaN first: the origin, or one that its overflow
  // reached; null: only the loss is known.
  const OpEvidence* nan = nullptr;
  // Weights that the update of a bad loss spoilt, so that no op among them
  // tells where it began; 0: there are none.
  int spoilt = 0;

  bool names_an_op() const { return origin != nullptr; }
};
// Returns nullopt where none is seen, or what is seen has another reason.
std::optional<ForwardNan> FindForwardNan(const Facts& f);

// Returns the rule of the op that the NaN was born in, if that is found, else
// that of the loss; kNone: neither is. What the scale does about the op comes
// after it.
RuleId RuleOfNan(const Facts& f, const CauseVerdict& verdict);

// True where the program prints 0 in place of a loss that is NaN.
bool PrintsZeroForNan(const RunDescription& run);

// True where the op holds NaN at the step that matters.
bool HoldsNan(const OpEvidence& op);
bool WasBadAt(const OpEvidence& op, int64_t step);
// True where `op` comes before `other` in a step at which both were bad. False
// where the order is not known.
bool ComesBefore(const OpEvidence& op, const OpEvidence& other);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_NAN_BIRTHS_H_
