// The causes as data: what each is, the rules whose findings it may explain,
// and the forms in which it shows. `explain`, the runbooks and the diagnosis
// read the same tables.

#ifndef NANWATCH_DIAGNOSE_CAUSES_H_
#define NANWATCH_DIAGNOSE_CAUSES_H_

#include <span>
#include <string_view>

#include "diagnose/cause_form.h"
#include "model/diagnosis.h"
#include "model/rule_id.h"

namespace nanwatch {

struct CauseSpec {
  Cause cause;
  std::string_view meaning;  // a sentence
  RuleSet rules;             // no form explains a finding of another rule
};

// Returns every cause but kUnexplained, harmless ones first.
std::span<const CauseSpec> AllCauses();

// Returns every form but kUnexplained, in their order.
std::span<const CauseForm> AllForms();

// Asks every form, in their order.
Matches MatchAll(const Facts& f);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_CAUSES_H_
