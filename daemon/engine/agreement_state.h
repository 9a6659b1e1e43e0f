// AgreementState: what a run keeps of ranks that must agree.

#ifndef NANWATCH_ENGINE_AGREEMENT_STATE_H_
#define NANWATCH_ENGINE_AGREEMENT_STATE_H_

#include <cstdint>

#include "detect/rules.h"
#include "engine/aligned_ring.h"
#include "model/rank.h"

namespace nanwatch {

// The ranks that must agree, for one optimizer.
struct AgreementState {
  AgreementGroup group;
  uint32_t optimizer = 0;  // index into the run's optimizer names
  int32_t open = 0;        // open ranks
  AlignedRing ring;
  AlignedRules rules;
};
template <typename A>
void Fields(A& archive, AgreementState& g) {
  archive(g.group, g.optimizer, g.open, g.ring, g.rules);
}

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_AGREEMENT_STATE_H_
