// RunArgument: a run that the daemon knows, as a command names it.

#ifndef NANWATCH_CLI_RUN_ARGUMENT_H_
#define NANWATCH_CLI_RUN_ARGUMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/option.h"

namespace nanwatch {

struct RunArgument {
  std::string run_id;
  int32_t attempt = -1;  // -1: the newest

  std::optional<int32_t> Attempt() const {
    return attempt < 0 ? std::nullopt : std::optional<int32_t>(attempt);
  }
};

// Returns the options that fill `argument`, which must outlive them.
std::vector<Option> OptionsOf(RunArgument* argument);
// Returns `given` (--address) in the client's notation, or the daemon's usual
// address.
std::string AskedDaemon(const std::string& given);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_RUN_ARGUMENT_H_
