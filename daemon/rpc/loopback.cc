#include "rpc/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace nanwatch {
namespace {

bool IsLoopback(const std::string& host) {
  if (host == "[::1]") return true;
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 &&
         ntohl(address.s_addr) >> 24 == 127;
}

}  // namespace

Result<Loopback> ParseLoopback(const std::string& address) {
  const size_t colon = address.rfind(':');
  Loopback out;
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
  if (out.host.empty()) {
    return Error{
        fmt::format("{} is not an address: write HOST:PORT, e.g. "
                    "127.0.0.1:9766",
                    address)};
  }
  if (!IsLoopback(out.host)) {
    return Error{
        fmt::format("{} is not a loopback address, and gRPC is not "
                    "encrypted here: listen on 127.0.0.1 and forward "
                    "the port over ssh, or use the unix socket",
                    address)};
  }
  return out;
}

Status CheckPortFree(const Loopback& address) {
  if (address.port == 0) return OkStatus();
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const auto port = htons(static_cast<uint16_t>(address.port));
  if (address.host == "[::1]") {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_addr = in6addr_loopback;
    v6->sin6_port = port;
    bytes = sizeof *v6;
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr);
    v4->sin_port = port;
    bytes = sizeof *v4;
  }
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int rc = bind(fd, reinterpret_cast<sockaddr*>(&storage), bytes);
  const int why = errno;
  close(fd);
  if (rc == 0) return OkStatus();
  return Error{
      fmt::format("cannot listen on {}:{}: {}; stop the program that "
                  "has it (ss -ltnp), or choose another port",
                  address.host, address.port, std::strerror(why))};
}

}  // namespace nanwatch
