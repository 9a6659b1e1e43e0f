// LogStanding: what a log comes to. The one place that says it in words, as a
// condition and as an exit status.

#ifndef NANWATCH_CLI_STANDING_H_
#define NANWATCH_CLI_STANDING_H_

#include <string>
#include <string_view>

#include "cli/check_log.h"
#include "model/diagnosis.h"
#include "model/severity.h"

namespace nanwatch {

struct LogStanding {
  Condition condition = Condition::kNotKnown;
  // The worst of all attempts together; a warning where nothing is found, and a
  // person is to look at it.
  Severity severity = Severity::kNone;
  std::string_view word;  // "critical", "unread", ...
  std::string headline;   // empty: there is nothing to judge
  // The exit status: 0 where it is healthy, or no update was applied yet.
  int status = 0;
};
LogStanding StandingOf(const CheckedLog& log);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_STANDING_H_
