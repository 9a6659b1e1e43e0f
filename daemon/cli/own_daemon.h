// A daemon that a command brings along: `nanwatch run` where none runs,
// `nanwatch demo` always.

#ifndef NANWATCH_CLI_OWN_DAEMON_H_
#define NANWATCH_CLI_OWN_DAEMON_H_

#include <string>

#include "base/result.h"

namespace nanwatch {

class OwnDaemon {
 public:
  OwnDaemon() = default;
  // From here on the daemon ends as soon as no other process needs it.
  ~OwnDaemon();
  OwnDaemon(const OwnDaemon&) = delete;
  OwnDaemon& operator=(const OwnDaemon&) = delete;

  // Where a daemon listens, in gRPC's notation: the one at the first of the
  // usual addresses that answers, else one that is started at the best of
  // them: NANWATCH_DAEMON, the one beside this program, or on PATH. Waits for
  // it, seconds at most. The lock through which it knows who needs it is that
  // of the Python client's autostart (client_lib/python/src/nanwatch/
  // _autostart.py), so that they share one. Once.
  Result<std::string> Ensure();
  // One of this process alone, with its history, in `folder`. Returns where it
  // listens, in gRPC's notation. Once.
  Result<std::string> StartIn(const std::string& folder);
  // Whether it will end with those that need it.
  bool started() const { return started_; }
  // Where the daemon that was started shows its runs; empty: nobody was.
  std::string page() const;

 private:
  // True: this process is one that the daemon runs for.
  bool Hold(const std::string& folder);
  // `history`: the file; empty: the usual one.
  Status Start(const std::string& folder, const std::string& socket,
               const std::string& history);

  int lock_ = -1;
  bool started_ = false;
  std::string log_;  // of the daemon that was started
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_OWN_DAEMON_H_
