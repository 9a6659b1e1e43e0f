// UnixListener: a listening unix socket, and who connects to it.

#ifndef NANWATCH_RPC_UNIX_LISTENER_H_
#define NANWATCH_RPC_UNIX_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/acceptor.h"
#include "rpc/peer.h"

namespace nanwatch {

class UnixListener {
 public:
  // `path` must be free, or a socket of ours that nobody listens on any more
  // (then it is replaced). `group` may be empty. Makes the last directory of
  // the path when it is missing. Every error says what stands in the way.
  static Result<std::unique_ptr<UnixListener>> Listen(const std::string& path,
                                                      unsigned mode,
                                                      const std::string& group);
  // Stop(), and the path goes.
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // Begins to accept. `take` owns the descriptor; it is called on the accepting
  // thread.
  void Start(std::function<void(int fd, const Peer& peer)> take);
  // No `take` after this.
  void Stop();

  const SocketOwner& owner() const { return owner_; }

 private:
  UnixListener(std::string path, int fd, SocketOwner owner);

  const std::string path_;
  const int fd_;
  const SocketOwner owner_;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_UNIX_LISTENER_H_
