// What people look at first when a rule fires.

#ifndef NANWATCH_DIAGNOSE_FIRST_LOOK_H_
#define NANWATCH_DIAGNOSE_FIRST_LOOK_H_

#include <string_view>

#include "model/rule_id.h"

namespace nanwatch {

// Returns sentences; empty: there is no such rule.
std::string_view FirstLook(RuleId rule);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FIRST_LOOK_H_
