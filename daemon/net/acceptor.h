// Acceptor: the thread that accepts from a listening socket of ours, and hands
// descriptors on. gRPC would hide who connects, and knows no bound.

#ifndef NANWATCH_NET_ACCEPTOR_H_
#define NANWATCH_NET_ACCEPTOR_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/result.h"

namespace nanwatch {

class Acceptor {
 public:
  // `socket` listens, does not block, and outlives this. `name`: of it, in the
  // log. A connection's descriptor is below `files`: the system gives the
  // lowest number that is free, and beyond are those that others need.
  static Result<std::unique_ptr<Acceptor>> Make(int socket, std::string name,
                                                size_t files);
  // Stop().
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Begins to accept. `take` owns the descriptor, which does not block; it is
  // called on the accepting thread.
  void Start(std::function<void(int fd)> take);
  // No `take` after this.
  void Stop();

 private:
  Acceptor(int socket, int wake, std::string name, size_t files);
  void Loop();
  // False: out of descriptors, wait a little.
  bool AcceptOne();

  const int socket_;
  const int wake_;  // an eventfd that ends the loop
  const std::string name_;
  const size_t files_;
  std::function<void(int)> take_;
  std::thread thread_;
  LogThrottle few_files_{std::chrono::minutes(1)};  // the thread's
};

}  // namespace nanwatch

#endif  // NANWATCH_NET_ACCEPTOR_H_
