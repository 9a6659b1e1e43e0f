// nanwatch demo: a page with five small runs.

#ifndef NANWATCH_CLI_DEMO_H_
#define NANWATCH_CLI_DEMO_H_

#include <string>

namespace nanwatch {

// Five small runs: at the daemon at `address`, or, where it is empty, at one of
// its own, until ^C. Returns the exit status, see cli/commands.h.
int Demo(const std::string& address);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_DEMO_H_
