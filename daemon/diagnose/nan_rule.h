// Which finding a NaN is named after, wherever it was born.

#ifndef NANWATCH_DIAGNOSE_NAN_RULE_H_
#define NANWATCH_DIAGNOSE_NAN_RULE_H_

#include "diagnose/facts.h"
#include "model/diagnosis.h"

namespace nanwatch {

// Returns the rule of the op that it was born in, if that is found, else that
// of the loss; kNone: neither is found. What the scale does about the op comes
// after it.
RuleId RuleOfNan(const Facts& f, const CauseVerdict& verdict);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_NAN_RULE_H_
