// TcpAddress: where the TCP port is.

#ifndef NANWATCH_NET_TCP_ADDRESS_H_
#define NANWATCH_NET_TCP_ADDRESS_H_

#include <sys/socket.h>

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

// Writes it for bind. 0: the host is no IP address; else bytes.
socklen_t Resolve(const TcpAddress& address, sockaddr_storage* to);

}  // namespace nanwatch

#endif  // NANWATCH_NET_TCP_ADDRESS_H_
