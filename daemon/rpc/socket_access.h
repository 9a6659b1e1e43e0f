// Why a unix socket is out of reach, as gRPC does not say.

#ifndef NANWATCH_RPC_SOCKET_ACCESS_H_
#define NANWATCH_RPC_SOCKET_ACCESS_H_

#include <string>

namespace nanwatch {

// "permission denied: ...", with what to do; empty: `address` is no unix socket
// ("unix:/path"), none is there, or this process may connect to it. Looks at
// the file system; any thread.
std::string WhyForbidden(const std::string& address);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_SOCKET_ACCESS_H_
