// The list of rules. Adding one: its own file, one line here, one scenario in
// tests/golden.

#ifndef NANWATCH_DETECT_RULES_H_
#define NANWATCH_DETECT_RULES_H_

#include <memory>
#include <span>

#include "base/result.h"
#include "detect/rule_list.h"
// One include a rule follows here.

namespace nanwatch {

// using StepRules = RuleList<...>;     a (rank, optimizer)
// using OpRules = RuleList<...>;       a (rank, op, slot), made on demand
// using AlignedRules = RuleList<...>;  an agreement group
// using TimeRules = RuleList<...>;     a run

// Every rule, by number.
std::span<const RuleSpec* const> AllRules();
// Null: no such rule.
const RuleSpec* FindRule(int number);
const RuleSpec* FindRule(std::string_view name);

// Every rule with its defaults.
RuleSet DefaultRules();

// A RuleSet made ready for the four lists. Thresholds that the set lacks are
// the defaults (an older daemon wrote it); rules that do not exist are ignored.
class RuleTables {
 public:
  explicit RuleTables(const RuleSet& set);
  RuleTables(const RuleTables&) = delete;
  RuleTables& operator=(const RuleTables&) = delete;

  // const StepRules::Table& step() const;
  // const OpRules::Table& op() const;
  // const AlignedRules::Table& aligned() const;
  // const TimeRules::Table& time() const;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RULES_H_
