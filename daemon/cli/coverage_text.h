// What `nanwatch check` and `tail` say of the step lines that could not be
// read.

#ifndef NANWATCH_CLI_COVERAGE_TEXT_H_
#define NANWATCH_CLI_COVERAGE_TEXT_H_

#include <string>

#include "app/log_judge.h"
#include "json/value_fwd.h"

namespace nanwatch {

// "16 step lines have `None` where `loss` was, from line 25 on, and could not
// be read." Empty: all were read.
std::string CoverageText(const LogCoverage& coverage);

Json CoverageJson(const LogVerdict& verdict);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COVERAGE_TEXT_H_
