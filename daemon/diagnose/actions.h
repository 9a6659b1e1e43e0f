// What to do about a cause, for each framework and where the run stands.

#ifndef NANWATCH_DIAGNOSE_ACTIONS_H_
#define NANWATCH_DIAGNOSE_ACTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/situation.h"
#include "model/diagnosis.h"

namespace nanwatch {

// Returns what to do, the general actions first; of a framework's only those of
// `framework` (names joined with '+', see FrameworkOf) or, where it has none of
// its own, of what it is built on. With an empty name: those of every framework
// that brings a scaler.
std::vector<Action> ActionsFor(Cause cause, const Situation& situation,
                               std::string_view framework);

// Returns `sentence` with how to undo what was done from `step` on in place of
// "{back}" and "{Back}": "resume from a checkpoint before step 812"; "start
// anew" in the first steps. Steps may be epochs, so that there is one at 11.
// `from_start`: that step has the first record. "{data}" stands for ", or
// without the data of that step", where it is not one of the first.
std::string WithWayBack(std::string_view sentence, std::optional<int64_t> step,
                        bool from_start = false);

// Whether an action of `of` is one for a run of `framework`.
bool IsMeantFor(std::string_view of, std::string_view framework);

// Leaves what holds for all programs, if there is any, where `framework` is not
// known: nobody reads eight libraries' lines to find his own.
void KeepGeneral(std::string_view framework, std::vector<Action>* actions);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_ACTIONS_H_
