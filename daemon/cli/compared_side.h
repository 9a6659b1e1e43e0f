// One of the two runs that `compare` reads: a history, an export or a log, or a
// run that the daemon knows.

#ifndef NANWATCH_CLI_COMPARED_SIDE_H_
#define NANWATCH_CLI_COMPARED_SIDE_H_

#include <string>

#include "base/result.h"
#include "cli/commands.h"
#include "compare/compared_run.h"

namespace nanwatch {

// `text`: FILE, FILE:RUN, FILE:RUN@ATTEMPT, RUN or RUN@ATTEMPT. The error is a
// sentence for who typed it.
Result<ComparedSide> ReadSide(const std::string& text,
                              const std::string& address,
                              const CheckOptions& log);
// Reads one that may have no step yet.
Result<ComparedSide> ReadOpening(const std::string& text,
                                 const std::string& address);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COMPARED_SIDE_H_
