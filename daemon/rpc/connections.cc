#include "rpc/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "net/peer_address.h"
#include "net/socket_inode.h"

namespace nanwatch {
namespace {

// Of who has too many: 6,000 looks take 2 ms. Ours.
constexpr Duration kLookAtConnections = std::chrono::milliseconds(100);
// Whose connection was ended comes again so much later: at once he would bring
// the same. Twice as long where he did, within so long. Ours.
constexpr Duration kBarred = std::chrono::seconds(2);
constexpr Duration kBarredMost = std::chrono::seconds(8);
constexpr Duration kForgiven = std::chrono::minutes(1);
// Unread bytes of who presses: a beginning and a question are less. Ours.
constexpr int kMuch = 16 << 10;
// Pieces of 16 KB, of a socket whose buffer holds 512 KB at most. Ours.
constexpr int kThrownAway = 64;
// Holders, most of whom left. Ours.
constexpr size_t kHolders = 4096;

// "fd:12" of the unix socket, as PeerAndPort() over TCP.
bool IsOf(int fd, std::string_view peer) {
  if (peer.starts_with("fd:")) return peer.substr(3) == std::to_string(fd);
  return peer == PeerAndPort(fd);
}

// gRPC sees an end, and closes it. What came and was not read would still be
// read, and done: it is thrown away here.
void End(int fd) {
  shutdown(fd, SHUT_RDWR);
  std::array<char, 16 << 10> bytes;
  for (int i = 0; i < kThrownAway; ++i) {
    if (recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace

bool Connections::Add(const std::string& holder, int fd, size_t most,
                      Duration passed) {
  MutexLock lock(mutex_);
  if (held_.size() >= kHolders && !held_.contains(holder)) ForgetWhoLeft();
  Held& held = held_[holder];
  if (held.open.size() >= most &&
      passed - held.looked_at >= kLookAtConnections) {
    held.looked_at = passed;
    ForgetClosed(&held);
  }
  if (held.open.size() >= most || passed < held.barred_until) return false;
  held.open.push_back({fd, SocketInode(fd)});
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
    End(one.fd);
    Bar(one.held, passed);
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
      End(one.fd);
      Bar(&held, passed);
    }
  }
}

void Connections::Bar(Held* held, Duration passed) {
  if (passed < held->barred_until) return;  // others of his were ended, too
  const bool again = passed < held->barred_until + kForgiven;
  held->bar = again ? std::clamp(2 * held->bar, kBarred, kBarredMost) : kBarred;
  held->barred_until = passed + held->bar;
}

void Connections::ForgetClosed(Held* held) {
  std::erase_if(held->open, [](const Open& one) {
    return SocketInode(one.fd) != one.inode;
  });
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
