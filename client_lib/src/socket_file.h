// The daemon's unix socket before it is dialled: where there is none, gRPC and
// its threads are never started.

#ifndef NANWATCH_CLIENT_SOCKET_FILE_H_
#define NANWATCH_CLIENT_SOCKET_FILE_H_

#include <sys/types.h>

#include <string>

namespace nanwatch_client {

// Where a daemon listens that `user` started without XDG_RUNTIME_DIR, in gRPC's
// notation. In /tmp anybody may make a folder of that name.
std::string PrivateAddress(uid_t user);

// A folder, no link to one, that is `user`'s and that nobody else may write to.
bool IsOwnFolder(const std::string& path, uid_t user);

// Why it is of no use to dial `address`, for this process' user; empty: it may
// be of some. The private address counts only in the user's own folder.
std::string WhyNotThere(const std::string& address);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_SOCKET_FILE_H_
