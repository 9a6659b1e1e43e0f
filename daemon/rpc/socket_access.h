// Where a unix socket is, and why it is out of reach, as gRPC does not say.

#ifndef NANWATCH_RPC_SOCKET_ACCESS_H_
#define NANWATCH_RPC_SOCKET_ACCESS_H_

#include <string>
#include <string_view>

namespace nanwatch {

// "/path" of "unix:/path" and of "unix:///path", in `address`; empty: another
// kind of address.
std::string_view SocketPath(std::string_view address);

// "permission denied: ...", with what to do; empty: `address` is no unix socket
// ("unix:/path"), none is there, or this process may connect to it. Looks at
// the file system; any thread.
std::string WhyForbidden(const std::string& address);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_SOCKET_ACCESS_H_
