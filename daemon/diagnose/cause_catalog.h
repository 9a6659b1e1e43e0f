// The causes as data: what each is in a sentence, and the rules whose findings
// it may explain. For pages about rules; a diagnosis makes its own choice.

#ifndef NANWATCH_DIAGNOSE_CAUSE_CATALOG_H_
#define NANWATCH_DIAGNOSE_CAUSE_CATALOG_H_

#include <span>
#include <string_view>

#include "model/diagnosis.h"
#include "model/rule_id.h"

namespace nanwatch {

struct CauseSpec {
  Cause cause;
  std::string_view meaning;  // a sentence
  RuleSet rules;             // no verdict explains another
};

// Every cause but kUnexplained, harmless ones first.
std::span<const CauseSpec> AllCauses();

// What people look at first when this rule fires, in sentences; empty: no such
// rule.
std::string_view FirstLook(RuleId rule);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_CAUSE_CATALOG_H_
