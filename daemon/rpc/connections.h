// Connections: how many each user, or each address, has open. gRPC takes a
// descriptor over and does not say when it closes it; so they are looked at
// where somebody seems to have too many, or where memory ends. Any thread.

#ifndef NANWATCH_RPC_CONNECTIONS_H_
#define NANWATCH_RPC_CONNECTIONS_H_

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace nanwatch {

class Connections {
 public:
  // Takes note of a socket. False: `holder` has `most` already, or one of his
  // was ended in the last seconds. `passed` is as of Clock::Passed().
  bool Add(const std::string& holder, int fd, size_t most, Duration passed);
  // Ends those that have more to say than is read, the ones first that have
  // most, up to `most` of them. Returns whose they were.
  std::vector<std::string> CutWhoPresses(size_t most, Duration passed);
  // Ends that of a peer: "fd:12", or as PeerAndPort().
  void Cut(std::string_view peer, Duration passed);

 private:
  struct Open {
    int fd;
    ino_t inode;  // another socket may have the number by now
  };
  struct Held {
    std::vector<Open> open;
    Duration looked_at{};
    Duration barred_until{};
    Duration bar{};  // how long he was barred last
  };

  static void Bar(Held* held, Duration passed);
  static void ForgetClosed(Held* held);
  void ForgetWhoLeft() REQUIRES_LOCK(mutex_);

  Mutex mutex_;
  std::map<std::string, Held> held_ GUARDED_BY(mutex_);
};

// Returns of whom a TCP connection counts: its address, of IPv6 the first half,
// which one host may have whole.
std::string AddressOfPeer(int fd);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CONNECTIONS_H_
