#include "net/tcp_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nanwatch {
namespace {

constexpr int kBacklog = 1024;  // 1,000 ranks may come at once
// A host that is gone is noticed in 60 + 3 * 20 s; one whose program stands
// still answers, as its kernel does. Ours.
constexpr int kIdleSeconds = 60;
constexpr int kProbeSeconds = 20;
constexpr int kProbes = 3;
constexpr int kUnansweredMs = 120'000;
// Bytes that wait unread in the kernel, 25 MB/s at 10 ms to and fro. The system
// gives up to 6 MB, and all that came is read, whatever the sender did. Ours.
constexpr int kUnreadBytes = 256 << 10;

void Set(int fd, int level, int option, int value) {
  // What the system does not take is as the system has it.
  setsockopt(fd, level, option, &value, sizeof value);
}

void Prepare(int fd) {
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMs);
}

Error Failed(const TcpAddress& address) {
  const int why = errno;
  return Error{fmt::format("cannot listen on {}:{}: {}; {}", address.host,
                           address.port, std::strerror(why),
                           why == EADDRINUSE
                               ? "stop the program that has it (ss "
                                 "-ltnp), or choose another port"
                               : "choose another address")};
}

}  // namespace

Result<std::unique_ptr<TcpListener>> TcpListener::Listen(
    const TcpAddress& address, size_t files) {
  sockaddr_storage storage{};
  const socklen_t bytes = Resolve(address, &storage);
  const int fd =
      socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Failed(address);
  std::unique_ptr<TcpListener> listener(new TcpListener(fd));
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd, SOL_SOCKET, SO_RCVBUF, kUnreadBytes);  // before the handshake
  // [::] is both kinds of addresses.
  if (storage.ss_family == AF_INET6) Set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(fd, reinterpret_cast<sockaddr*>(&storage), bytes) != 0 ||
      listen(fd, kBacklog) != 0) {
    return Failed(address);
  }
  auto acceptor = Acceptor::Make(
      fd, fmt::format("{}:{}", address.host, listener->port()), files);
  if (!acceptor) return Error{acceptor.error()};
  listener->acceptor_ = std::move(*acceptor);
  return listener;
}

TcpListener::~TcpListener() {
  acceptor_.reset();
  close(fd_);
}

void TcpListener::Start(std::function<void(int)> take) {
  acceptor_->Start([take = std::move(take)](int fd) {
    Prepare(fd);
    take(fd);
  });
}

void TcpListener::Stop() { acceptor_->Stop(); }

void TcpListener::WaitForFirstByte(int seconds) {
  Set(fd_, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds);
}

int TcpListener::port() const {
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) {
    return 0;
  }
  return ntohs(bound.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                   : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

}  // namespace nanwatch
