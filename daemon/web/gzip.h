// Compression of replies.

#ifndef NANWATCH_WEB_GZIP_H_
#define NANWATCH_WEB_GZIP_H_

#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

enum class GzipLevel {
  kFast,   // somebody waits for it
  kSmall,  // packed once, sent often
};

// nullopt: out of memory.
std::optional<std::string> Gzip(std::string_view text,
                                GzipLevel level = GzipLevel::kFast);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_GZIP_H_
