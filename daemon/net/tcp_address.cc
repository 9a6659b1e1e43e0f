#include "net/tcp_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/fmt/fmt.h>

#include <charconv>

namespace nanwatch {
namespace {

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
}

}  // namespace

socklen_t Resolve(const TcpAddress& address, sockaddr_storage* to) {
  const auto port = htons(static_cast<uint16_t>(address.port));
  const std::string& host = address.host;
  if (host.starts_with('[') && host.ends_with(']')) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(to);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = port;
    const std::string bare = host.substr(1, host.size() - 2);
    return inet_pton(AF_INET6, bare.c_str(), &v6->sin6_addr) == 1 ? sizeof *v6
                                                                  : 0;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(to);
  v4->sin_family = AF_INET;
  v4->sin_port = port;
  return inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1 ? sizeof *v4 : 0;
}

Result<TcpAddress> ParseTcpAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  TcpAddress out;
  const char* const end = address.data() + address.size();
  if (colon != std::string::npos) {
    const auto [stop, error] =
        std::from_chars(address.data() + colon + 1, end, out.port);
    if (error == std::errc() && stop == end && out.port >= 0 &&
        out.port <= 65535) {
      out.host = address.substr(0, colon);
    }
  }
  if (out.host == "localhost") out.host = "127.0.0.1";
  sockaddr_storage storage{};
  if (out.host.empty() || Resolve(out, &storage) == 0) {
    return Error{
        fmt::format("{} is not an address: write IP-ADDRESS:PORT, e.g. "
                    "127.0.0.1:9766",
                    address)};
  }
  out.loopback = IsLoopback(storage);
  return out;
}

}  // namespace nanwatch
