// Gap: what did not fit into the ring, until the daemon is told.

#ifndef NANWATCH_CLIENT_GAP_H_
#define NANWATCH_CLIENT_GAP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nanwatch_client {

struct Lost {
  uint64_t steps = 0;
  uint64_t ops = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;

  uint64_t records() const { return steps + ops; }
  void Add(const Lost& other) {
    if (other.records() == 0) return;
    const bool empty = records() == 0;
    first_step =
        empty ? other.first_step : std::min(first_step, other.first_step);
    last_step = empty ? other.last_step : std::max(last_step, other.last_step);
    steps += other.steps;
    ops += other.ops;
  }
};

// Neither side ever waits: who finds the other inside comes again later.
class Gap {
 public:
  // Any pushing thread. What cannot be noted now is noted with the next loss.
  void Add(const Lost& lost) {
    if (!Enter()) {
      missed_steps_.fetch_add(lost.steps, std::memory_order_relaxed);
      missed_ops_.fetch_add(lost.ops, std::memory_order_relaxed);
      return;
    }
    lost_.Add(lost);
    Leave();
  }
  // The sender; empty when nothing was lost.
  Lost Take() {
    if (!Enter()) return {};
    lost_.steps += missed_steps_.exchange(0, std::memory_order_relaxed);
    lost_.ops += missed_ops_.exchange(0, std::memory_order_relaxed);
    const Lost taken = lost_;
    lost_ = {};
    Leave();
    return taken;
  }

 private:
  bool Enter() { return !inside_.exchange(true, std::memory_order_acquire); }
  void Leave() { inside_.store(false, std::memory_order_release); }

  std::atomic<bool> inside_{false};
  Lost lost_;
  std::atomic<uint64_t> missed_steps_{0};
  std::atomic<uint64_t> missed_ops_{0};
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_GAP_H_
