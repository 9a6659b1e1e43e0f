// What `nanwatch check` and `tail` say of the step lines that could not be
// read.

#ifndef NANWATCH_CLI_COVERAGE_TEXT_H_
#define NANWATCH_CLI_COVERAGE_TEXT_H_

#include <string>

#include "app/log_judge.h"
#include "json/value.h"

namespace nanwatch {

// "24 of 40 step lines were read; the others hold `None` where the loss was
// (first: line 25)." Empty: all were read.
std::string CoverageText(const LogCoverage& coverage);

Json CoverageJson(const LogVerdict& verdict);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COVERAGE_TEXT_H_
