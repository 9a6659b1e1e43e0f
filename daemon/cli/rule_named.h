// A rule as a person names it: "scale_collapse" or "7".

#ifndef NANWATCH_CLI_RULE_NAMED_H_
#define NANWATCH_CLI_RULE_NAMED_H_

#include <string>

#include "model/rule.h"

namespace nanwatch {

bool IsRuleNumber(const std::string& said);
// Null: there is none.
const RuleSpec* RuleNamed(const std::string& said);
// Why a number, or a name, of the survey has no rule here: a sentence. Empty:
// it is none of the survey's, or it has a rule.
std::string WhyNoRule(const std::string& said);
// "there is no rule scale_colapse, perhaps you mean scale_collapse: ...".
std::string NoSuchRule(const std::string& said);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_RULE_NAMED_H_
