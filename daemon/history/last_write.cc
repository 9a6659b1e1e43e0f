#include "history/last_write.h"

#include <sys/stat.h>

#include <algorithm>

namespace nanwatch {

Time LastWrite(const std::string& path) {
  Time last{};
  for (const std::string& file : {path, path + "-wal"}) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) continue;
    last = std::max(last, FromMicros(status.st_mtim.tv_sec * 1000000ll +
                                     status.st_mtim.tv_nsec / 1000));
  }
  return last;
}

}  // namespace nanwatch
