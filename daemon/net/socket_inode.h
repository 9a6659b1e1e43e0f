// Which socket a descriptor is: the number may be another one's later.

#ifndef NANWATCH_NET_SOCKET_INODE_H_
#define NANWATCH_NET_SOCKET_INODE_H_

#include <sys/stat.h>

namespace nanwatch {

// 0: it is closed, or no socket.
inline ino_t SocketInode(int fd) {
  struct stat found {};
  if (fstat(fd, &found) != 0 || !S_ISSOCK(found.st_mode)) return 0;
  return found.st_ino;
}

}  // namespace nanwatch

#endif  // NANWATCH_NET_SOCKET_INODE_H_
