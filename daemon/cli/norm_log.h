// A log of norms, one a parameter, as one of the two runs that `compare` reads.

#ifndef NANWATCH_CLI_NORM_LOG_H_
#define NANWATCH_CLI_NORM_LOG_H_

#include <string>

#include "base/result.h"
#include "compare/compared_run.h"

namespace nanwatch {

// Of several ranks that name themselves the lowest counts. A run without
// tensors: the log prints no such norms. The error is a sentence for who typed
// the path.
Result<ComparedRun> ReadNormLog(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_NORM_LOG_H_
