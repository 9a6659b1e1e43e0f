// What the command line takes for a text that goes to the daemon.

#ifndef NANWATCH_CLI_TEXT_CHECKS_H_
#define NANWATCH_CLI_TEXT_CHECKS_H_

#include <CLI/CLI.hpp>

namespace nanwatch {

// For Option::check: UTF-8, as all texts of the protocol are. An empty one is.
CLI::Validator Utf8Text();

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TEXT_CHECKS_H_
