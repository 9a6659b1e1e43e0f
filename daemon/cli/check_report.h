// What `nanwatch check` says of logs, for a person.

#ifndef NANWATCH_CLI_CHECK_REPORT_H_
#define NANWATCH_CLI_CHECK_REPORT_H_

#include <string>
#include <vector>

#include "cli/check_log.h"
#include "cli/style.h"
#include "scaler/catalog.h"

namespace nanwatch {

// One line: how bad, which file, who printed it, how long, when it began.
std::string VerdictLine(const CheckedLog& log, const Style& style);
// Of several logs a row each, as they were given: how bad, the file, its
// program and its steps, and what was found first. Then how many there are of
// each.
std::string VerdictTable(const std::vector<CheckedLog>& logs,
                         const Style& style);
// What stands below it: sentences, pictures, causes, incidents.
// One screen of them, or `all`.
std::string LogReport(const CheckedLog& log, const Style& style,
                      bool all = false);

// The loss scaler, as its moves tell it; null: they do not.
const ScalerSpec* ScalerOf(const LogVerdict& verdict);

// The name of a rule's number.
std::string RuleNameOf(RuleId id);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_CHECK_REPORT_H_
