// repeat: the same program several times, and what of it is not the same each
// time.

#ifndef NANWATCH_CLI_REPEAT_H_
#define NANWATCH_CLI_REPEAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/style.h"

namespace nanwatch {

struct RepeatOptions {
  std::vector<std::string> command;  // not empty
  int64_t times = 3;                 // at least 2
  std::string address;               // of the daemon; empty: the usual places
  bool json = false;
};

// 0: it is the same each time. 2: it is not. 3: it could not be compared.
int RepeatProgram(const RepeatOptions& options, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_REPEAT_H_
