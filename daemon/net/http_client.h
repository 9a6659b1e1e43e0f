// HttpClient: posts to other people's servers, many at once, each with a
// deadline. Never throws, never follows a redirect, never says a secret.

#ifndef NANWATCH_NET_HTTP_CLIENT_H_
#define NANWATCH_NET_HTTP_CLIENT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"

namespace nanwatch {

// Files; empty: the system's authorities, and no certificate of our own.
struct HttpTls {
  std::string ca;
  std::string cert;
  std::string key;
};

struct HttpPost {
  // http://, https:// or http+unix://%2Fpath%2Fto.sock/path. User and password
  // may stand in it; they go into the Authorization header.
  std::string url;
  std::string body;
  std::string content_type = "application/json";
  Duration timeout = std::chrono::seconds(10);
  std::vector<std::string> headers;  // "Name: value", beside the type
  HttpTls tls;
};

struct PostReply {
  int status = 0;     // 0: there was no answer, `error` says why
  std::string error;  // in words, without parts of the URL
  std::string body;   // its beginning, at most kReplyBytes
  std::optional<Duration> retry_after;
};
inline constexpr size_t kReplyBytes = 4096;

// What became of it.
enum class Delivery {
  kDelivered,  // 2xx
  kRetry,      // no answer, 408, 429 or 5xx: the same may work later
  kRejected,   // any other: it never will
};
Delivery DeliveryOf(const PostReply& reply);

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // POSTs all at the same time; the replies in their order. Returns when the
  // last has answered or run out of time. One thread.
  virtual std::vector<PostReply> PostAll(
      std::span<const HttpPost> requests) = 0;
  // Ends a PostAll that is under way, and those to come until Resume: what has
  // no answer yet gets an error. Any thread.
  virtual void Cancel() = 0;
  virtual void Resume() = 0;
};

// Over libcurl, with connections kept open. The environment's proxies are not
// used: alerts go where the configuration says.
std::unique_ptr<HttpClient> NewCurlHttpClient();

}  // namespace nanwatch

#endif  // NANWATCH_NET_HTTP_CLIENT_H_
