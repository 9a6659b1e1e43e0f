// LogFlags: how a log is read, as the command line says it: --format and --map.

#ifndef NANWATCH_CLI_LOG_FLAGS_H_
#define NANWATCH_CLI_LOG_FLAGS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/option.h"
#include "logs/column_names.h"
#include "logs/format.h"

namespace nanwatch {

struct LogFlags {
  std::string format;
  std::vector<std::string> map;

  std::vector<Option> Options();
  // The same for a command that reads other recordings as well.
  std::vector<Option> OptionsOfALog();
  // Puts what was said into the command's options.
  template <typename Options>
  Status Resolve(Options* options) const {
    return Resolve(&options->format, &options->columns);
  }

 private:
  Status Resolve(const LogFormat** to_format, ColumnMap* columns) const;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LOG_FLAGS_H_
