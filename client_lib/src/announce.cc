#include "client_lib/src/announce.h"

#include <fcntl.h>
#include <unistd.h>

namespace nanwatch_client {

void Announce(const std::string& path, const std::string& run_id) {
  if (path.empty()) return;
  const int file =
      open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  const std::string line = run_id + "\n";
  [[maybe_unused]] const ssize_t put = write(file, line.data(), line.size());
  close(file);
}

}  // namespace nanwatch_client
