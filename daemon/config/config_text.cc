#include "config/config_text.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace nanwatch {
namespace {

// A shell's <(...) writes at once; into a forgotten pipe nobody ever does.
constexpr std::chrono::milliseconds kPipeWrites{5000};

// 0: `*text` has the whole, or one byte more than is taken; else errno.
int ReadWholeFile(int file, std::string* text) {
  text->resize(kConfigTextMost + 1);
  size_t size = 0;
  int why = 0;
  while (why == 0 && size < text->size()) {
    pollfd wait{file, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(kPipeWrites.count())) == 0) {
      why = ETIMEDOUT;
      break;
    }
    const ssize_t got = read(file, &(*text)[size], text->size() - size);
    if (got == 0) break;
    if (got > 0) {
      size += static_cast<size_t>(got);
    } else if (errno != EINTR && errno != EAGAIN) {
      why = errno;
    }
  }
  text->resize(size);
  return why;
}

}  // namespace

Result<std::string> ReadConfigText(const std::string& file) {
  std::string text;
  // To open a pipe without a writer would wait for ever.
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int why = errno;
  if (opened >= 0) {
    why = ReadWholeFile(opened, &text);
    close(opened);
  }
  if (why == ETIMEDOUT) {
    return Error{file + ": Nobody writes to this pipe: name a file."};
  }
  if (opened < 0 || why != 0) {
    return Error{file + ": The file cannot be read: " + std::strerror(why) +
                 ". Check its path and who may read it."};
  }
  if (text.size() > kConfigTextMost) {
    return Error{file + ": The file has more than " +
                 std::to_string(kConfigTextMost) +
                 " bytes: it is no configuration."};
  }
  return text;
}

}  // namespace nanwatch
