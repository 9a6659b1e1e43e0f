// Strings as the wire wants them: valid UTF-8 of bounded length. Protobuf would
// print a warning for others, and the daemon refuse the whole message.

#ifndef NANWATCH_CLIENT_UTF8_H_
#define NANWATCH_CLIENT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace nanwatch_client {

inline constexpr size_t kNameBytes = 512;

// `text` with each byte that is not UTF-8 as '?', cut before the character that
// would go beyond `limit` bytes. Null: empty.
std::string CleanUtf8(const char* text, size_t limit = kNameBytes);
std::string CleanUtf8(std::string_view text, size_t limit = kNameBytes);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_UTF8_H_
