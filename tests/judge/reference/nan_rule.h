// Which finding a NaN is named after, wherever it was born.

#ifndef NANWATCH_TESTS_JUDGE_REFERENCE_NAN_RULE_H_
#define NANWATCH_TESTS_JUDGE_REFERENCE_NAN_RULE_H_

#include "tests/judge/reference/causes.h"

namespace nanwatch::reference {

// The rule of the op that it was born in, if that is found, else the loss';
// kNone: neither is. What the scale does about that op comes after it.
RuleId RuleOfNan(const Case& c, const CauseVerdict& verdict);

}  // namespace nanwatch::reference

#endif  // NANWATCH_TESTS_JUDGE_REFERENCE_NAN_RULE_H_
