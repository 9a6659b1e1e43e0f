#include "rpc/strangers.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <iterator>

#include "net/peer_address.h"
#include "net/socket_inode.h"

namespace nanwatch {
namespace {

// Four times what HTTP/2 lets a client send before somebody reads his stream,
// in so long: who asks for health now and then is none. Ours.
constexpr uint64_t kMost = 256 << 10;
constexpr Duration kStrangersWindow = std::chrono::seconds(10);

// 0: not known.
uint64_t Received(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return 0;
  return info.tcpi_bytes_received;
}

}  // namespace

void Strangers::Add(int fd) {
  const std::string from = PeerAndPort(fd);
  if (from.empty()) return;
  MutexLock lock(mutex_);
  strangers_[from] = {fd, SocketInode(fd)};
}

void Strangers::Know(const std::string& from) {
  MutexLock lock(mutex_);
  strangers_.erase(from);
}

std::vector<std::string> Strangers::WhoFlood(Duration passed) {
  MutexLock lock(mutex_);
  std::vector<std::string> flood;
  for (auto at = strangers_.begin(); at != strangers_.end();) {
    Stranger& it = at->second;
    const bool there = SocketInode(it.fd) == it.inode;
    const uint64_t received = there ? Received(it.fd) : 0;
    const bool floods = there && received - it.before > kMost;
    if (floods) flood.push_back(at->first);
    if (passed - it.since >= kStrangersWindow) {
      it.since = passed;
      it.before = received;
    }
    at = there && !floods ? std::next(at) : strangers_.erase(at);
  }
  return flood;
}

}  // namespace nanwatch
