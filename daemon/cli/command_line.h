// CommandLine: all that may stand behind `nanwatch`.

#ifndef NANWATCH_CLI_COMMAND_LINE_H_
#define NANWATCH_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "cli/option.h"

namespace nanwatch {

struct CommandLine {
  std::string name;  // of the program
  std::string help;
  std::string version;
  std::vector<Option> options;  // before the command
  std::vector<Command> commands;
};

// Runs the command that the arguments name, and returns its exit status. 0,
// too, after --help and --version; kExitUsage after a sentence on what is wrong
// with them.
int RunCommandLine(const CommandLine& line, int argc, char** argv);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COMMAND_LINE_H_
