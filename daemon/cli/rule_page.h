// The page of a rule: what it means, when it fires and clears, where it differs
// from the literature, its thresholds with their sources, and what people do
// about it. One page, for the terminal and as Markdown; the runbooks are made
// of it.

#ifndef NANWATCH_CLI_RULE_PAGE_H_
#define NANWATCH_CLI_RULE_PAGE_H_

#include <string>

#include "cli/style.h"
#include "model/rule.h"

namespace nanwatch {

std::string RulePageText(const RuleSpec& rule, const Style& style);
// Begins with a heading of the first level: "# scale_collapse".
std::string RulePageMarkdown(const RuleSpec& rule);

// All rules, a line each, by family; the Markdown links NAME.md.
std::string RuleIndexText(const Style& style);
std::string RuleIndexMarkdown();

}  // namespace nanwatch

#endif  // NANWATCH_CLI_RULE_PAGE_H_
