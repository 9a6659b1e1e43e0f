// Compression of replies.

#ifndef NANWATCH_WEB_GZIP_H_
#define NANWATCH_WEB_GZIP_H_

#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

// At the fastest level: a scrape waits for it. nullopt: out of memory.
std::optional<std::string> Gzip(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_GZIP_H_
