// HttpRequest and HttpReply: HTTP as the pages and the API see it, free of the
// server's library.

#ifndef NANWATCH_WEB_HTTP_H_
#define NANWATCH_WEB_HTTP_H_

#include <string>
#include <string_view>

namespace nanwatch {

struct HttpRequest {
  std::string method;  // "GET", ...
  std::string path;    // as sent: not decoded
  std::string query;   // without '?'
  std::string host;    // Host header; may be empty
  std::string accept;
  std::string accept_encoding;
};

struct HttpReply {
  int status = 200;
  std::string content_type;
  std::string body;
  bool gzipped = false;
  std::string_view handler = "other";  // label of the request counter
};

// An error as JSON: {"error": {"what": ..., "where": ..., "do": ...}}.
HttpReply ErrorReply(int status, std::string_view what, std::string_view where,
                     std::string_view what_to_do);

std::string_view StatusText(int status);

// Status line and headers with the security headers, ready to send.
std::string HeaderBlock(const HttpReply& reply);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_HTTP_H_
