// IncidentQueue: news of incidents that wait for a store. Bounded: of more than
// 1,000 the oldest goes, and is counted. Any thread.

#ifndef NANWATCH_PUSH_INCIDENT_QUEUE_H_
#define NANWATCH_PUSH_INCIDENT_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>

#include "base/mutex.h"
#include "model/incident.h"

namespace nanwatch {

class IncidentQueue {
 public:
  // A few KB each. Ours.
  static constexpr size_t kMost = 1000;

  // From here on something takes them; before, nothing is kept.
  void Want() { wanted_ = true; }
  void Offer(const Notice& notice) {
    if (!wanted_) return;
    MutexLock lock(mutex_);
    if (waiting_.size() >= kMost) {
      waiting_.pop_front();
      Lose(1);
    }
    waiting_.push_back(notice);
  }
  std::deque<Notice> Take() {
    MutexLock lock(mutex_);
    return std::exchange(waiting_, {});
  }
  // So many were given up.
  void Lose(uint64_t notices) { lost_.fetch_add(notices); }
  uint64_t lost() const { return lost_; }
  bool wanted() const { return wanted_; }

 private:
  std::atomic<bool> wanted_{false};
  std::atomic<uint64_t> lost_{0};
  Mutex mutex_;
  std::deque<Notice> waiting_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_INCIDENT_QUEUE_H_
