// Supervisor: what systemd is told: ready, alive, stopping. Does nothing where
// nobody asked (no NOTIFY_SOCKET).

#ifndef NANWATCH_APP_SUPERVISOR_H_
#define NANWATCH_APP_SUPERVISOR_H_

#include <cstdint>
#include <ctime>
#include <string>

namespace nanwatch {

// The main thread's.
class Supervisor {
 public:
  Supervisor();
  void Ready();
  void Stopping();
  // Pings the watchdog, if `turns` has moved since the last time: a pipeline
  // that hangs is then restarted.
  void Alive(uint64_t turns);
  // What `systemctl status` shows, in a sentence; told where it changed.
  void Say(const std::string& status);
  // How often to call Alive: half the watchdog's time, at most a second.
  timespec Interval() const;

 private:
  uint64_t watchdog_us_ = 0;  // 0: none
  uint64_t last_turns_ = 0;
  std::string said_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_SUPERVISOR_H_
