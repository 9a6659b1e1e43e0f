// Loopback: an address of this host alone. Nothing else is listened on without
// authentication.

#ifndef NANWATCH_RPC_LOOPBACK_H_
#define NANWATCH_RPC_LOOPBACK_H_

#include <string>

#include "base/result.h"

namespace nanwatch {

struct Loopback {
  std::string host;  // "127.0.0.1" or "[::1]"
  int port = 0;
};

// "127.0.0.1:9766", "localhost:0", "[::1]:9766".
Result<Loopback> ParseLoopback(const std::string& address);

// Tries to bind it, for an error that says why not.
Status CheckPortFree(const Loopback& address);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_LOOPBACK_H_
