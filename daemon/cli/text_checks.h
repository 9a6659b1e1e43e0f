// What the command line takes for a text that goes to the daemon.

#ifndef NANWATCH_CLI_TEXT_CHECKS_H_
#define NANWATCH_CLI_TEXT_CHECKS_H_

#include <CLI/CLI.hpp>

namespace nanwatch {

// For Option::check: UTF-8, as all texts of the protocol are. An empty one is.
CLI::Validator Utf8Text();

// The name of a run: not empty either, which is a variable that was not set.
CLI::Validator RunName();

// Where a daemon may listen: /path, unix:/path or host:port.
CLI::Validator DaemonPlace();

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TEXT_CHECKS_H_
