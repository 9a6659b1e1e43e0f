// What a log format says of lines, as text, for tables of sample lines.

#ifndef NANWATCH_TESTS_UNIT_LOGS_TOLD_FACTS_H_
#define NANWATCH_TESTS_UNIT_LOGS_TOLD_FACTS_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "logs/fact.h"
#include "logs/log_reader.h"

namespace nanwatch {

// One fact: "step=50 loss=1.5 grad_norm=10.75", "overflow before=4096
// loss_scale=2048 skipped", "scale loss_scale=512", "stopped: why".
std::string FactText(const LogFact& fact);

// The facts of `lines` (separated by \n), a line of text each, as the format
// of that name reads them: it is shown only lines that hold one of its marks.
std::string ToldFacts(std::string_view format, std::string_view lines);

// The emitter that is recognised in `lines` among all formats.
std::string RecognisedIn(std::string_view lines);

// The programs' formats beside `format` that read anything in `lines`, their
// names joined with blanks: other programs' lines are not to be believed.
std::string OthersThatRead(std::string_view format, std::string_view lines);

// What a LogReader makes of a whole log.
struct ReadLog {
  std::vector<LogRecord> records;
  LogCoverage coverage;
};
ReadLog ReadAll(const std::vector<std::string>& lines);
std::vector<LogRecord> RecordsOf(const std::vector<std::string>& lines);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_LOGS_TOLD_FACTS_H_
