// CheckDump: another tool's dump, judged alone.

#ifndef NANWATCH_CLI_CHECK_DUMP_H_
#define NANWATCH_CLI_CHECK_DUMP_H_

#include <string>

#include "cli/check_log.h"

namespace nanwatch {

// `path`: a folder or a file, of which IsDump is true.
CheckedLog CheckDump(const std::string& path, const CheckOptions& options);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_CHECK_DUMP_H_
