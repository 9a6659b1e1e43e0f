#include "app/job_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace nanwatch {
namespace {

void WaitAndEnd(int file) {
  while (true) {
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    flock(file, LOCK_UN);  // whoever comes within the grace gets it
    std::this_thread::sleep_for(kJobLockGrace);
    // Kept until this process is gone: who comes now waits for that, and
    // starts another daemon.
    if (flock(file, LOCK_EX | LOCK_NB) == 0) break;
  }
  kill(getpid(), SIGTERM);
}

}  // namespace

Status EndWithLock(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Error{path + ": " + std::strerror(errno)};
  std::thread(WaitAndEnd, file).detach();
  return OkStatus();
}

}  // namespace nanwatch
