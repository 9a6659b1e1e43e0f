// RequestHead: the first lines of a request, up to the empty one.

#ifndef NANWATCH_WEB_REQUEST_HEAD_H_
#define NANWATCH_WEB_REQUEST_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "web/http.h"

namespace nanwatch {

struct RequestHead {
  std::string method;
  std::string path;   // as sent: not decoded
  std::string query;  // without '?'
  // In the order of the request; names in small letters.
  std::vector<std::pair<std::string, std::string>> headers;
  // Of the body; absent: there is none, or nobody says how long it is.
  std::optional<uint64_t> length;

  // Empty: there is none. Of several the first.
  std::string Header(std::string_view name) const;
};

// Bytes of the head, and headers in it. Browsers send 2 KB in 20.
inline constexpr size_t kHeadBytes = 16 << 10;
inline constexpr size_t kHeaders = 64;

// Where the head ends in `bytes`, behind its empty line; npos: not yet.
size_t EndOfHead(std::string_view bytes);

// Reads a whole head. An error is a sentence: it is none of HTTP/1.0 or 1.1, or
// one that two readers could understand in two ways.
Result<RequestHead> ParseRequestHead(std::string_view head);

// What the pages and the API look at.
void TakeOver(const RequestHead& head, HttpRequest* request);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_REQUEST_HEAD_H_
