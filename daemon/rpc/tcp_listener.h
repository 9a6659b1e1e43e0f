// TcpListener: the listening TCP port. Connections of hosts that are gone end
// by themselves after about two minutes.

#ifndef NANWATCH_RPC_TCP_LISTENER_H_
#define NANWATCH_RPC_TCP_LISTENER_H_

#include <functional>
#include <memory>

#include "base/result.h"
#include "rpc/acceptor.h"
#include "rpc/tcp_address.h"

namespace nanwatch {

class TcpListener {
 public:
  // An error says what stands in the way.
  static Result<std::unique_ptr<TcpListener>> Listen(const TcpAddress& address);
  // Stop().
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  // As Acceptor's.
  void Start(std::function<void(int fd)> take);
  void Stop();

  int port() const;

 private:
  explicit TcpListener(int fd) : fd_(fd) {}

  const int fd_;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_TCP_LISTENER_H_
