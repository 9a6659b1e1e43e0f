// RecordedProgram: a training that `repeat` and its kind run for its first
// steps, and that its hooks record for a comparison.

#ifndef NANWATCH_CLI_RECORDED_PROGRAM_H_
#define NANWATCH_CLI_RECORDED_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/child_environment.h"
#include "cli/compared_side.h"
#include "cli/own_daemon.h"

namespace nanwatch {

class RecordedProgram {
 public:
  // `address` of the daemon: empty: the usual places, else one of its own.
  // `name`: what its runs are named by, "repeat".
  RecordedProgram(std::vector<std::string> command, std::string address,
                  const std::string& name);

  // Finds a daemon. Call once, first.
  Status Begin();
  // Runs the program and reads what it told. It ends itself after `steps`, and
  // where these are 0 as soon as it has said what it is; absent: it ends when
  // it ends. What it prints goes to standard error. `part`: the end of the
  // run's name.
  Result<ComparedSide> Run(const std::string& part,
                           std::optional<int64_t> steps,
                           const Variables& variables = {});
  const std::string& address() const { return address_; }

 private:
  Result<int> Start(const Variables& variables) const;

  const std::vector<std::string> command_;  // not empty
  std::string address_;
  const std::string name_;
  OwnDaemon own_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_RECORDED_PROGRAM_H_
