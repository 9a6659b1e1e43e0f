#include "rpc/peer.h"

#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nanwatch {
namespace {

constexpr unsigned kGroupMayWrite = 0020;
constexpr unsigned kAnyoneMayWrite = 0002;

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

// Empty where the kernel cannot say.
std::vector<gid_t> ReadGroups(int fd) {
  std::vector<gid_t> groups(64);
  for (int tries = 0; tries < 2; ++tries) {
    socklen_t bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int rc =
        getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
    if (rc == 0) {
      groups.resize(bytes / sizeof(gid_t));
      return groups;
    }
    if (errno != ERANGE) break;
    groups.resize(bytes / sizeof(gid_t));  // the kernel's own limit: 65536
  }
  return {};
}

}  // namespace

Result<Peer> ReadPeer(int fd) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return Error{
        fmt::format("cannot read who connected: {}", std::strerror(errno))};
  }
  return Peer{credentials.uid, credentials.gid, credentials.pid,
              ReadGroups(fd)};
}

bool MayConnect(const Peer& peer, const SocketOwner& socket) {
  if (peer.uid == 0 || peer.uid == socket.uid) return true;
  if ((socket.mode & kAnyoneMayWrite) != 0) return true;
  if ((socket.mode & kGroupMayWrite) == 0) return false;
  return peer.gid == socket.gid ||
         std::find(peer.groups.begin(), peer.groups.end(), socket.gid) !=
             peer.groups.end();
}

}  // namespace nanwatch
