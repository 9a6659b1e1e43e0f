// TcpAddress: where the TCP port is.

#ifndef NANWATCH_RPC_TCP_ADDRESS_H_
#define NANWATCH_RPC_TCP_ADDRESS_H_

#include <string>

#include "base/result.h"

namespace nanwatch {

struct TcpAddress {
  std::string host;  // "127.0.0.1", "0.0.0.0" or "[::1]"
  int port = 0;
  bool loopback = false;  // of this host alone
};

// "127.0.0.1:9766", "localhost:0", "[::1]:9766".
Result<TcpAddress> ParseTcpAddress(const std::string& address);

// Tries to bind it, for an error that says why not.
Status CheckPortFree(const TcpAddress& address);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_TCP_ADDRESS_H_
