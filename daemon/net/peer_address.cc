#include "net/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

namespace nanwatch {

std::string PeerAndPort(int fd) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0 ||
      (peer.ss_family != AF_INET && peer.ss_family != AF_INET6)) {
    return "";
  }
  const in_port_t port =
      peer.ss_family == AF_INET
          ? reinterpret_cast<const sockaddr_in&>(peer).sin_port
          : reinterpret_cast<const sockaddr_in6&>(peer).sin6_port;
  std::string address = PeerAddress(fd);
  if (address.find(':') != std::string::npos) address = '[' + address + ']';
  return address + ':' + std::to_string(ntohs(port));
}

std::string PeerAddress(int fd) {
  constexpr std::string_view kMapped = "::ffff:";
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) {
    return "";
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    std::string address(text);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) address.erase(0, kMapped.size());
    return address;
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
  inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  return text;
}

}  // namespace nanwatch
