// What another tool dumped, as one of the two runs that `compare` reads.

#ifndef NANWATCH_CLI_DUMP_SIDE_H_
#define NANWATCH_CLI_DUMP_SIDE_H_

#include <string>

#include "base/result.h"
#include "compare/compared_run.h"

namespace nanwatch {

struct DumpedRun {
  ComparedRun run;
  std::string complaint;  // what was not read of it; empty: nothing
};

// `path`: a folder or a file, of which IsDump is true. The error is a sentence
// for who typed it.
Result<DumpedRun> ReadDump(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_DUMP_SIDE_H_
