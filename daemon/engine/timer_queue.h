// TimerQueue: which run has something to do next. One due time a run; cost
// follows the timers that fire, not the runs that wait.

#ifndef NANWATCH_ENGINE_TIMER_QUEUE_H_
#define NANWATCH_ENGINE_TIMER_QUEUE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "base/time.h"

namespace nanwatch {

class TimerQueue {
 public:
  // Sets the slot's next due time, in place of the one before; nullopt: none.
  // `order` says who of several comes first: it must not depend on slots, which
  // a restart gives out anew.
  void Set(uint32_t slot, std::optional<Time> due, uint64_t order = 0) {
    if (slot >= due_.size()) due_.resize(slot + 1);
    if (due_[slot] == due) return;
    due_[slot] = due;
    if (due) heap_.push({*due, order, slot});
  }

  // The earliest due time and its slot; of several the lowest order, then slot.
  struct Due {
    Time time;
    uint64_t order;
    uint32_t slot;
    bool operator>(const Due& o) const {
      return std::tie(time, order, slot) > std::tie(o.time, o.order, o.slot);
    }
  };
  std::optional<Due> Next() {
    while (!heap_.empty()) {
      const Due top = heap_.top();
      if (due_[top.slot] == top.time) return top;
      heap_.pop();  // was replaced
    }
    return std::nullopt;
  }

 private:
  std::vector<std::optional<Time>> due_;  // by slot
  // Entries whose time is not due_[slot] any more are passed over.
  std::priority_queue<Due, std::vector<Due>, std::greater<Due>> heap_;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_TIMER_QUEUE_H_
