// A daemon that `nanwatch run` brings along where none runs.

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
  // Whether it will end with those that need it.
  bool started() const { return started_; }

 private:
  // True: this process is one that the daemon runs for.
  bool Hold(const std::string& folder);
  Status Start(const std::string& folder, const std::string& socket);

  int lock_ = -1;
  bool started_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_OWN_DAEMON_H_
