// What people look at first when a rule fires.

#ifndef NANWATCH_DIAGNOSE_FIRST_LOOK_H_
#define NANWATCH_DIAGNOSE_FIRST_LOOK_H_

#include <string_view>

#include "model/rule_id.h"

namespace nanwatch {

// Of an evaluation's loss: no cause is known, and this is the advice, too.
inline constexpr std::string_view kLookAtEvaluation =
    "Run that evaluation once more on its own: look for an empty set, a "
    "division by 0 and inputs that no batch of training had. Pick no "
    "checkpoint by that loss.";

// Returns sentences; empty: there is no such rule.
std::string_view FirstLook(RuleId rule);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FIRST_LOOK_H_
