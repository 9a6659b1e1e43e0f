// EmptyStreams: connections that open streams and end them without a word, as
// in a flood of resets (CVE-2023-44487): gRPC 1.51 makes a call of each. Any
// thread.

#ifndef NANWATCH_RPC_EMPTY_STREAMS_H_
#define NANWATCH_RPC_EMPTY_STREAMS_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"

namespace nanwatch {

// `peer` is as gRPC names it, `passed` as of Clock::Passed().
class EmptyStreams {
 public:
  // One has ended that brought nothing, or was refused.
  void Count(const std::string& peer, Duration passed) {
    MutexLock lock(mutex_);
    if (counted_.size() >= kPeers) {
      std::erase_if(counted_, [&](const auto& one) {
        return passed - one.second.since >= kWindow;
      });
    }
    Counted& of = counted_[peer];
    if (passed - of.since >= kWindow) of = {.since = passed};
    ++of.streams;
  }
  // True when the peer floods; once, as there are thousands of his.
  bool Floods(const std::string& peer, Duration passed) {
    MutexLock lock(mutex_);
    const auto of = counted_.find(peer);
    if (of == counted_.end() || passed - of->second.since >= kWindow ||
        of->second.streams <= kMost) {
      return false;
    }
    return !std::exchange(of->second.told, true);
  }

 private:
  struct Counted {
    Duration since{};
    size_t streams = 0;
    bool told = false;
  };
  // A client that is told to come again does so a few times a second. Ours.
  static constexpr size_t kMost = 100;
  static constexpr Duration kWindow = std::chrono::seconds(1);
  static constexpr size_t kPeers = 1024;

  Mutex mutex_;
  std::unordered_map<std::string, Counted> counted_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_EMPTY_STREAMS_H_
