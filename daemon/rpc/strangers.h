// Strangers: connections over TCP on which nobody has said yet who he is. Who
// says it with his first call has sent little by then; who floods with pings,
// resets or headers takes the threads of others long before his calls are
// looked at. Any thread.

#ifndef NANWATCH_RPC_STRANGERS_H_
#define NANWATCH_RPC_STRANGERS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace nanwatch {

class Strangers {
 public:
  // One that was accepted.
  void Add(int fd);
  // A call said who he is: `from` is as PeerAndPort().
  void Know(const std::string& from);
  // Returns those that have sent too much, as PeerAndPort(). `passed` is as of
  // Clock::Passed().
  std::vector<std::string> WhoFlood(Duration passed);

 private:
  struct Stranger {
    int fd;
    ino_t inode;  // another socket may have the number by now
    Duration since{};
    uint64_t before = 0;  // bytes
  };

  Mutex mutex_;
  std::unordered_map<std::string, Stranger> strangers_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_STRANGERS_H_
