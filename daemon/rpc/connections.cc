#include "rpc/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace nanwatch {
namespace {

// Of who has too many: 6,000 looks take 2 ms. Ours.
constexpr Duration kLook = std::chrono::milliseconds(100);
// Whose connection was ended comes again so much later: at once he would bring
// the same. Ours.
constexpr Duration kBarred = std::chrono::seconds(2);
// Unread bytes of who presses: a beginning and a question are less. Ours.
constexpr int kMuch = 16 << 10;
// Holders, most of whom left. Ours.
constexpr size_t kHolders = 4096;

// 0: it is closed.
ino_t InodeOf(int fd) {
  struct stat found {};
  if (fstat(fd, &found) != 0 || !S_ISSOCK(found.st_mode)) return 0;
  return found.st_ino;
}

// "fd:12" of the unix socket, "ipv4:10.0.0.1:4711" over TCP: an address has a
// port once.
bool IsOf(int fd, std::string_view peer) {
  if (peer.starts_with("fd:")) return peer.substr(3) == std::to_string(fd);
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    return false;
  }
  const in_port_t port =
      address.ss_family == AF_INET
          ? reinterpret_cast<const sockaddr_in&>(address).sin_port
          : reinterpret_cast<const sockaddr_in6&>(address).sin6_port;
  return (address.ss_family == AF_INET || address.ss_family == AF_INET6) &&
         peer.ends_with(fmt::format(":{}", ntohs(port)));
}

}  // namespace

bool Connections::Add(const std::string& holder, int fd, size_t most,
                      Duration passed) {
  MutexLock lock(mutex_);
  if (held_.size() >= kHolders && !held_.contains(holder)) ForgetWhoLeft();
  Held& held = held_[holder];
  if (held.open.size() >= most && passed - held.looked_at >= kLook) {
    held.looked_at = passed;
    ForgetClosed(&held);
  }
  if (held.open.size() >= most || passed < held.barred_until) return false;
  held.open.push_back({fd, InodeOf(fd)});
  return true;
}

std::vector<std::string> Connections::CutWhoPresses(size_t most,
                                                    Duration passed) {
  struct Pressing {
    int unread;  // bytes
    int fd;
    const std::string* holder;
    Held* held;
  };
  MutexLock lock(mutex_);
  std::vector<Pressing> pressing;
  for (auto& [holder, held] : held_) {
    ForgetClosed(&held);
    for (const Open& one : held.open) {
      int unread = 0;
      if (ioctl(one.fd, FIONREAD, &unread) != 0 || unread < kMuch) continue;
      pressing.push_back({unread, one.fd, &holder, &held});
    }
  }
  std::sort(
      pressing.begin(), pressing.end(),
      [](const Pressing& a, const Pressing& b) { return a.unread > b.unread; });
  if (pressing.size() > most) pressing.resize(most);
  std::vector<std::string> cut;
  for (const Pressing& one : pressing) {
    // gRPC sees an end, and closes it.
    shutdown(one.fd, SHUT_RDWR);
    one.held->barred_until = passed + kBarred;
    cut.push_back(*one.holder);
  }
  return cut;
}

void Connections::Cut(std::string_view peer, Duration passed) {
  MutexLock lock(mutex_);
  for (auto& [holder, held] : held_) {
    ForgetClosed(&held);
    for (const Open& one : held.open) {
      if (!IsOf(one.fd, peer)) continue;
      shutdown(one.fd, SHUT_RDWR);
      held.barred_until = passed + kBarred;
    }
  }
}

void Connections::ForgetClosed(Held* held) {
  std::erase_if(held->open,
                [](const Open& one) { return InodeOf(one.fd) != one.inode; });
}

void Connections::ForgetWhoLeft() {
  for (auto at = held_.begin(); at != held_.end();) {
    ForgetClosed(&at->second);
    at = at->second.open.empty() ? held_.erase(at) : std::next(at);
  }
}

std::string AddressOfPeer(int fd) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) {
    return "an address that left";
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    return text;
  }
  in6_addr six = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&six)) std::memset(six.s6_addr + 8, 0, 8);
  inet_ntop(AF_INET6, &six, text, sizeof text);
  return text;
}

}  // namespace nanwatch
