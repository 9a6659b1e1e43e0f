#include "config/config_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace nanwatch {

Result<std::string> ReadConfigText(const std::string& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  if (stream) {
    text.resize(kConfigTextMost + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    return Error{file + ": The file cannot be read: " + std::strerror(errno) +
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
