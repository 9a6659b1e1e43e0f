// What to do about a cause, for each framework.

#ifndef NANWATCH_DIAGNOSE_ACTIONS_H_
#define NANWATCH_DIAGNOSE_ACTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/evidence.h"
#include "model/diagnosis.h"
#include "model/run.h"

namespace nanwatch {

// "pytorch", "megatron", "deepspeed", "fairseq", "mindspore", "ascend_tf",
// "keras", "jax", as the run says or else as its scaler tells; empty: unknown.
std::string_view FrameworkOf(const RunDescription& run,
                             const RunEvidence& evidence);

// The general ones first; of a framework's only those of `framework`, or all
// when that is empty. No cure is advised that `run` declares already.
std::vector<Action> ActionsFor(Cause cause, const RunDescription& run,
                               std::string_view framework);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_ACTIONS_H_
