// Peer: who is at the other end of a unix socket, as the kernel says.

#ifndef NANWATCH_RPC_PEER_H_
#define NANWATCH_RPC_PEER_H_

#include <sys/types.h>

#include <vector>

#include "base/result.h"

namespace nanwatch {

struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
  std::vector<gid_t> groups;  // supplementary ones
};
Result<Peer> ReadPeer(int fd);

// Whose the listening socket is.
struct SocketOwner {
  uid_t uid = 0;
  gid_t gid = 0;
  unsigned mode = 0660;
};
// The file's mode, held against the peer once more: a path that was opened up
// by others, or a descriptor that was passed on, does not get in.
bool MayConnect(const Peer& peer, const SocketOwner& socket);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_PEER_H_
