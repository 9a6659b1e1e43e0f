// Where the daemon listens for gRPC.

#ifndef NANWATCH_RPC_OPTIONS_H_
#define NANWATCH_RPC_OPTIONS_H_

#include <string>

namespace nanwatch {

struct RpcOptions {
  // Path of the unix socket; empty: none.
  std::string socket_path;
  // Who may connect, as for a file; read and write are one.
  unsigned socket_mode = 0660;
  // Name of the socket's group; empty: the process's.
  std::string socket_group;
  // "127.0.0.1:9766", port 0 for any; empty (the default): no TCP. Only
  // loopback addresses: there is no authentication beyond the host's own.
  std::string tcp_address;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_OPTIONS_H_
