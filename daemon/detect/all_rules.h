// Every rule there is, by number, name and default: for those who name rules
// and run none. detect/rules.h has the lists that run.

#ifndef NANWATCH_DETECT_ALL_RULES_H_
#define NANWATCH_DETECT_ALL_RULES_H_

#include <span>
#include <string_view>

#include "model/rule.h"

namespace nanwatch {

// Every rule, by number.
std::span<const RuleSpec* const> AllRules();
// Null: no such rule.
const RuleSpec* FindRule(RuleId id);
const RuleSpec* FindRule(std::string_view name);

// Every rule with its defaults.
RulesInForce DefaultRules();

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_ALL_RULES_H_
