// HttpRequest and HttpReply: HTTP as the pages and the API see it, free of the
// server's library.

#ifndef NANWATCH_WEB_HTTP_H_
#define NANWATCH_WEB_HTTP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/caller.h"

namespace nanwatch {

struct HttpRequest {
  std::string method;  // "GET", ...
  std::string path;    // as sent: not decoded
  std::string query;   // without '?'
  std::string host;    // Host header; may be empty
  std::string accept;
  std::string accept_encoding;
  std::string if_none_match;
  std::string cache_control;
  // Of a POST, for who it is that asks.
  std::string origin;
  std::string content_type;
  std::string fetch_site;  // Sec-Fetch-Site
  std::string purpose;     // X-Nanwatch, which forms cannot send
  std::string body;
  std::string authorization;
  std::string remote;  // address of the peer
  // Of the certificate that it showed, as NameOfClient().
  std::optional<std::string> certificate_name;
  std::optional<Caller> caller;  // absent: nobody was asked who he is
  // Of a POST whose caller nobody asked: the user of the program that sent it,
  // as Caller's. Empty: not known.
  std::string local_number;
  std::string tried;  // the user whose password was wrong, where there is one
  bool from_loopback() const;  // the peer is on this machine
};

// What server-sent events are asked for: of all runs, or of one.
struct EventQuery {
  std::string run_id;  // empty: all
  std::optional<int32_t> attempt;
};

struct HttpReply {
  int status = 200;
  std::string content_type;
  std::string body;
  bool gzipped = false;
  std::string reason;                  // of an error, as its body says it
  std::string_view handler = "other";  // label of the request counter
  std::string etag;                    // without quotes; empty: none
  // What a browser may do with it later.
  enum class Keep { kNothing, kAskAgain, kForEver };
  Keep keep = Keep::kNothing;
  // Set: there is no body, the events follow until somebody hangs up.
  std::optional<EventQuery> events;
};

// Does a header If-None-Match name `etag`?
bool NamesTag(std::string_view if_none_match, std::string_view etag);

// An error as JSON: {"error": {"what": ..., "where": ..., "do": ...}}.
HttpReply ErrorReply(int status, std::string_view what, std::string_view where,
                     std::string_view what_to_do);

std::string_view StatusText(int status);

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Status line and headers with the security headers, ready to send. `added`
// take the place of ours of the same name.
std::string HeaderBlock(const HttpReply& reply, const HttpHeaders& added = {});

}  // namespace nanwatch

#endif  // NANWATCH_WEB_HTTP_H_
