// TcpListener: the listening TCP port. Connections of hosts that are gone end
// by themselves after about two minutes.

#ifndef NANWATCH_NET_TCP_LISTENER_H_
#define NANWATCH_NET_TCP_LISTENER_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.h"
#include "net/acceptor.h"
#include "net/tcp_address.h"

namespace nanwatch {

class TcpListener {
 public:
  // `files` as Acceptor's. An error says what stands in the way.
  static Result<std::unique_ptr<TcpListener>> Listen(const TcpAddress& address,
                                                     size_t files);
  // Stop().
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  // As Acceptor's.
  void Start(std::function<void(int fd)> take);
  void Stop();
  // Who connects and sends nothing is the kernel's, for so long: he takes no
  // thread. For protocols in which the client speaks first.
  void WaitForFirstByte(int seconds);

  int port() const;

 private:
  explicit TcpListener(int fd) : fd_(fd) {}

  const int fd_;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace nanwatch

#endif  // NANWATCH_NET_TCP_LISTENER_H_
