#include "rpc/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <iterator>

namespace nanwatch {
namespace {

// Of who has too many: 6,000 looks take 2 ms. Ours.
constexpr Duration kLook = std::chrono::milliseconds(100);
// Holders, most of whom left. Ours.
constexpr size_t kHolders = 4096;

// 0: it is closed.
ino_t InodeOf(int fd) {
  struct stat found {};
  if (fstat(fd, &found) != 0 || !S_ISSOCK(found.st_mode)) return 0;
  return found.st_ino;
}

}  // namespace

bool Connections::Add(const std::string& holder, int fd, size_t most,
                      Duration passed) {
  if (held_.size() >= kHolders && !held_.contains(holder)) ForgetWhoLeft();
  Held& held = held_[holder];
  if (held.open.size() >= most && passed - held.looked_at >= kLook) {
    held.looked_at = passed;
    ForgetClosed(&held);
  }
  if (held.open.size() >= most) return false;
  held.open.push_back({fd, InodeOf(fd)});
  return true;
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
