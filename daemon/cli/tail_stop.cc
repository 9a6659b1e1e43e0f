#include "cli/tail_stop.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace nanwatch {

StopSignals::StopSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&held, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  file_ = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
}

StopSignals::~StopSignals() {
  if (file_ >= 0) close(file_);
}

bool StopSignals::Wait(Duration wait) {
  pollfd one{file_, POLLIN, 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(wait);
  if (poll(&one, 1, static_cast<int>(ms.count())) <= 0) return false;
  signalfd_siginfo info;
  return read(file_, &info, sizeof info) == sizeof info;
}

}  // namespace nanwatch
