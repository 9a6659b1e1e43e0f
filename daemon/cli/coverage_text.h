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
// Whether nothing is found, but too little was read to call that healthy.
bool IsUnread(const LogVerdict& verdict);
// True where the log is too short to tell what its newest losses mean.
bool IsUnsettled(const LogVerdict& verdict);
// True where a person is to look at it though nothing is found, as at a
// warning.
inline bool NeedsALook(const LogVerdict& verdict) {
  return IsUnread(verdict) || IsUnsettled(verdict);
}
// The verdict's headline; of one that IsUnread() what was not read.
std::string HeadlineOf(const LogVerdict& verdict);

Json CoverageJson(const LogVerdict& verdict);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COVERAGE_TEXT_H_
