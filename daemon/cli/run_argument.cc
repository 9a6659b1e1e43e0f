#include "cli/run_argument.h"

#include "cli/number_checks.h"
#include "cli/text_checks.h"
#include "config/addresses.h"

namespace nanwatch {

std::vector<Option> OptionsOf(RunArgument* argument) {
  return {{.names = "run",
           .target = &argument->run_id,
           .help = "run id",
           .required = true,
           .check = RunName()},
          {.names = "--attempt",
           .target = &argument->attempt,
           .help = "default: the newest",
           .check = WholeNumber()}};
}

std::string AskedDaemon(const std::string& given) {
  return given.empty() ? FindDaemon() : DaemonAddress(given);
}

}  // namespace nanwatch
