#include "app/supervisor.h"

#include <systemd/sd-daemon.h>

#include <algorithm>

namespace nanwatch {

Supervisor::Supervisor() {
  uint64_t us = 0;
  if (sd_watchdog_enabled(0, &us) > 0) watchdog_us_ = us;
}

void Supervisor::Ready() { sd_notify(0, "READY=1"); }

void Supervisor::Stopping() { sd_notify(0, "STOPPING=1"); }

void Supervisor::Alive(uint64_t turns) {
  if (turns == last_turns_) return;
  last_turns_ = turns;
  if (watchdog_us_ > 0) sd_notify(0, "WATCHDOG=1");
}

void Supervisor::Say(const std::string& status) {
  if (status == said_) return;
  said_ = status;
  sd_notify(0, ("STATUS=" + status).c_str());
}

timespec Supervisor::Interval() const {
  constexpr uint64_t kLongest = 1000000;
  const uint64_t us =
      watchdog_us_ == 0 ? kLongest : std::min(kLongest, watchdog_us_ / 2);
  return {static_cast<time_t>(us / 1000000),
          static_cast<long>(us % 1000000 * 1000)};
}

}  // namespace nanwatch
