// LineUp: connections that wait for a thread, and how many each host has.

#ifndef NANWATCH_WEB_LINE_UP_H_
#define NANWATCH_WEB_LINE_UP_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"

namespace nanwatch {

// One that was accepted; who takes it owns the descriptor.
struct Accepted {
  int fd = -1;
  std::string host;  // of the client
};

// Any thread.
class LineUp {
 public:
  // `waiting`: that wait for a thread. `of_host`: of one host, waiting or
  // served; the loopback is no host in this sense, all of it is this machine.
  LineUp(size_t waiting, size_t of_host)
      : waiting_most_(waiting), of_host_most_(of_host) {}

  // Waits for a place. False: it is one too many of its host, or nobody takes
  // any more.
  bool Add(Accepted accepted);
  // Waits for one; nullopt: there will be none.
  std::optional<Accepted> Take();
  // What Take() gave is closed.
  void Leave(const std::string& host);
  // Nobody adds or takes any more. Returns those that nobody took.
  std::deque<Accepted> Close();

 private:
  const size_t waiting_most_;
  const size_t of_host_most_;
  Mutex mutex_;
  std::condition_variable changed_;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::deque<Accepted> waiting_ GUARDED_BY(mutex_);
  std::map<std::string, size_t> of_host_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_LINE_UP_H_
