// MemoryGuard: the last bound on what connections take. gRPC 1.51 holds what is
// no message and ends nowhere without a bound (a header in endless
// CONTINUATION frames: 400 MB a second), and nobody sees it but the kernel.

#ifndef NANWATCH_RPC_MEMORY_GUARD_H_
#define NANWATCH_RPC_MEMORY_GUARD_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace nanwatch {

class MemoryGuard {
 public:
  // `cut` ends some connections and returns how many; it is called on a thread
  // of this one's own, again and again while more than `most` is resident, or
  // more than a quarter of it and rising fast. `look` is called on it ten times
  // a second and more.
  MemoryGuard(
      size_t most, std::function<size_t()> cut,
      std::function<void()> look = [] {});
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

 private:
  void Loop();
  // False: it is over.
  bool Sleep(std::chrono::milliseconds time);

  const size_t most_;
  const std::function<size_t()> cut_;
  const std::function<void()> look_;
  Mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_MEMORY_GUARD_H_
