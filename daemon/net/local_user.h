// Whose program is at the other end of a TCP connection on this machine.

#ifndef NANWATCH_NET_LOCAL_USER_H_
#define NANWATCH_NET_LOCAL_USER_H_

#include <sys/types.h>

#include <optional>

namespace nanwatch {

// The user who made the socket, as /proc/net says. nullopt: nobody has it any
// more, or it is not on this machine.
std::optional<uid_t> LocalUser(int fd);

}  // namespace nanwatch

#endif  // NANWATCH_NET_LOCAL_USER_H_
