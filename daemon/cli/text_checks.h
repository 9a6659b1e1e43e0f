// What the command line takes for a text that goes to the daemon.

#ifndef NANWATCH_CLI_TEXT_CHECKS_H_
#define NANWATCH_CLI_TEXT_CHECKS_H_

#include "cli/option.h"

namespace nanwatch {

// UTF-8, as all texts of the protocol are. An empty one is.
OptionCheck Utf8Text();

// The name of a run: not empty either, which is a variable that was not set.
OptionCheck RunName();

// Where a daemon may listen: /path, unix:/path or host:port.
OptionCheck DaemonPlace();

// A file, pipe or device that is there now.
OptionCheck ExistingFile();

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TEXT_CHECKS_H_
