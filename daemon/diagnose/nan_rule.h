// Which finding a NaN is named after, wherever it was born.

#ifndef NANWATCH_DIAGNOSE_NAN_RULE_H_
#define NANWATCH_DIAGNOSE_NAN_RULE_H_

#include "diagnose/causes.h"

namespace nanwatch {

// The rule of the op that it was born in, if that is found, else the loss';
// kNone: neither is. What the scale does about that op comes after it.
RuleId RuleOfNan(const Case& c, const CauseVerdict& verdict);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_NAN_RULE_H_
