#include "base/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

namespace nanwatch {

void AllowOpenFiles(size_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, wanted);
  setrlimit(RLIMIT_NOFILE, &files);
}

size_t OpenFilesMost() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return SIZE_MAX;
  return files.rlim_cur;
}

size_t OpenFilesOfHttp(size_t wanted) {
  return std::min(wanted, OpenFilesMost() / 3);
}

size_t OpenFilesOfStreams() {
  // HTTP's 190, and history, readers, notices.
  constexpr size_t kBeside = 256;
  const size_t most = OpenFilesMost();
  return most - std::min(kBeside, most / 3 + most / 8);
}

}  // namespace nanwatch
