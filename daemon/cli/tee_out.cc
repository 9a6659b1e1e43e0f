#include "cli/tee_out.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nanwatch {

bool TeeOut::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file_, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno == EAGAIN) {
      // Somebody who shares the terminal made it so.
      pollfd out{file_, POLLOUT, 0};
      poll(&out, 1, -1);
    } else if (errno != EINTR) {
      if (error_.empty()) {
        error_ = std::string(file_ == STDOUT_FILENO ? "standard output: "
                                                    : "standard error: ") +
                 std::strerror(errno) +
                 "; what cannot be written there is lost";
      }
      return true;
    }
  }
  return true;
}

}  // namespace nanwatch
