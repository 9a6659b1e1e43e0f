// Launched: a program that `nanwatch run` started: its output, the signals that
// are passed on to it, and how it ended.

#ifndef NANWATCH_CLI_LAUNCHED_H_
#define NANWATCH_CLI_LAUNCHED_H_

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/child_environment.h"

namespace nanwatch {

class Launched {
 public:
  // Holds back, in this thread and those that it starts from now on, the
  // signals that are to be passed on.
  Launched();
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  // Starts `command` (found on PATH) with these variables set. It has this
  // program's standard input, process group and terminal. 0, else an errno.
  int Start(const std::vector<std::string>& command,
            const Variables& variables);
  // Where what it prints can be read; the caller's to close.
  int out() const { return out_; }
  int err() const { return err_; }
  // Until it ended; passes signals on. Those of the terminal it had from there.
  // As waitpid() gives it. From then on signals end this program as any other.
  int Wait();
  // Ends this program as that one ended: by the same signal, else with the exit
  // status that is returned.
  static int EndAlike(int status);

 private:
  sigset_t before_;
  sigset_t held_;
  int signals_ = -1;  // a signalfd
  pid_t child_ = -1;
  int out_ = -1;
  int err_ = -1;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LAUNCHED_H_
