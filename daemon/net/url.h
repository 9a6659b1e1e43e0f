// Addresses of others, as they may be shown and as they are called.

#ifndef NANWATCH_NET_URL_H_
#define NANWATCH_NET_URL_H_

#include <string>
#include <string_view>

namespace nanwatch {

// For logs and errors: scheme, host and port. User, password, path and query
// may be secrets (a chat's webhook is one) and become "...".
std::string PublicUrl(std::string_view url);

// "http+unix://%2Frun%2Fam.sock/api" -> socket "/run/am.sock", url
// "http://localhost/api". Other URLs: no socket, the same URL.
struct Endpoint {
  std::string url;
  std::string unix_socket;
};
Endpoint EndpointOf(std::string_view url);

// `base` and `path` with exactly one slash between.
std::string JoinUrl(std::string_view base, std::string_view path);
// For one segment of a path or a value of a query.
std::string PercentEncoded(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_NET_URL_H_
