// FairMailbox<T>: the bounded hand-off between threads where several users
// send. Each has a queue of its own and a fair share of the room, and the
// queues are emptied in turns: who floods waits behind himself. Producers never
// wait; what does not fit stays with the caller.

#ifndef NANWATCH_BASE_FAIR_MAILBOX_H_
#define NANWATCH_BASE_FAIR_MAILBOX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fair_share.h"
#include "base/mutex.h"
#include "base/time.h"

namespace nanwatch {

// What became of an item.
enum class Offered {
  kTaken,
  kPressing,  // taken; its user has much inside: send less
  kFull,      // or closed; the item is untouched
};

template <typename T>
class FairMailbox {
 public:
  using User = uint64_t;

  // At most `items_max` items that weigh at most `bytes_max` together. In its
  // turn a user has `turn_bytes` taken, and what is more is paid for later.
  FairMailbox(size_t items_max, size_t bytes_max, size_t turn_bytes)
      : items_max_(items_max),
        turn_bytes_(static_cast<int64_t>(turn_bytes)),
        items_{items_max},
        bytes_{bytes_max} {}
  FairMailbox(const FairMailbox&) = delete;
  FairMailbox& operator=(const FairMailbox&) = delete;

  // Any thread.
  Offered TryPush(User user, T&& item, size_t bytes) {
    Offered offered = Offered::kTaken;
    {
      MutexLock lock(mutex_);
      Queue& queue = queues_[user];
      if (closed_ || !items_.Fits(queue.size(), 1) ||
          !bytes_.Fits(queue.bytes, bytes)) {
        return Offered::kFull;
      }
      PushLocked(user, &queue, std::move(item), bytes);
      if (items_.Presses(queue.size()) || bytes_.Presses(queue.bytes)) {
        offered = Offered::kPressing;
      }
    }
    filled_.notify_one();
    return offered;
  }

  // True: the user has much inside. Any thread.
  bool Presses(User user) {
    MutexLock lock(mutex_);
    const auto queue = queues_.find(user);
    return queue != queues_.end() && (items_.Presses(queue->second.size()) ||
                                      bytes_.Presses(queue->second.bytes));
  }

  // Behind what the user has inside, however much that is; weighs nothing. Any
  // thread. What comes after Close() is dropped.
  void PushAlways(User user, T&& item) {
    {
      MutexLock lock(mutex_);
      if (closed_) return;
      PushLocked(user, &queues_[user], std::move(item), 0);
    }
    filled_.notify_one();
  }

  // The consumer's thread. Waits until there is something of a user for whom
  // `ready(user)` holds, the mailbox is closed, Wake() is called, or `wait` is
  // over. Moves about `bytes` of such users into `*out` (cleared first).
  template <typename Ready>
  void PopSome(Duration wait, size_t bytes, const Ready& ready,
               std::vector<T>* out) {
    if (out->capacity() > kKeptOutside) {
      std::vector<T>().swap(*out);
    } else {
      out->clear();
    }
    std::unique_lock<std::mutex> lock(mutex_.native());
    filled_.wait_for(lock, wait, [&] { return MayGoOn(ready); });
    woken_ = false;
    TakeLocked(static_cast<int64_t>(bytes), ready, out);
  }

  // Makes a waiting PopSome return at once. Any thread.
  void Wake() {
    {
      MutexLock lock(mutex_);
      woken_ = true;
    }
    filled_.notify_one();
  }

  // From here on TryPush refuses. What is inside can still be taken.
  void Close() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
  }

  size_t size() {
    MutexLock lock(mutex_);
    return items_.taken;
  }
  size_t capacity() const { return items_max_; }

 private:
  struct Queue {
    std::vector<T> items;         // those before `next` are taken
    std::vector<size_t> weights;  // of each
    size_t next = 0;
    size_t bytes = 0;    // of those that are not taken
    int64_t credit = 0;  // bytes; below 0 what was taken in advance

    size_t size() const { return items.size() - next; }
  };

  void PushLocked(User user, Queue* queue, T&& item, size_t bytes)
      REQUIRES_LOCK(mutex_) {
    if (queue->size() == 0) {
      if (queues_.size() > kQueues) ForgetEmptyLocked(user);
      turns_.push_back(user);
    }
    queue->items.push_back(std::move(item));
    queue->weights.push_back(bytes);
    queue->bytes += bytes;
    ++items_.taken;
    bytes_.taken += bytes;
  }

  void ForgetEmptyLocked(User but) REQUIRES_LOCK(mutex_) {
    std::erase_if(queues_, [but](const auto& one) {
      return one.first != but && one.second.size() == 0;
    });
  }

  template <typename Ready>
  bool MayGoOn(const Ready& ready) NANWATCH_TS(no_thread_safety_analysis) {
    return closed_ || woken_ ||
           std::any_of(turns_.begin(), turns_.end(), ready);
  }

  template <typename Ready>
  void TakeLocked(int64_t bytes, const Ready& ready, std::vector<T>* out)
      NANWATCH_TS(no_thread_safety_analysis) {
    size_t passed_over = 0;  // one after the other
    while (bytes > 0 && passed_over < turns_.size()) {
      const User user = turns_.front();
      turns_.pop_front();
      Queue& queue = queues_[user];
      if (!ready(user)) {
        ++passed_over;
        turns_.push_back(user);
        continue;
      }
      passed_over = 0;
      // Who is alone needs no turns.
      const bool alone = turns_.empty();
      queue.credit =
          alone ? bytes : std::min(queue.credit + turn_bytes_, turn_bytes_);
      bytes -= TakeTurn(&queue, out);
      if (queue.size() > 0) turns_.push_back(user);
    }
  }

  // Returns what was taken.
  int64_t TakeTurn(Queue* queue, std::vector<T>* out)
      NANWATCH_TS(no_thread_safety_analysis) {
    const size_t begin = queue->next;
    const int64_t credit = queue->credit;
    size_t end = begin;
    size_t bytes = 0;
    while (queue->credit > 0 && end < queue->items.size()) {
      const size_t weight = queue->weights[end++];
      queue->credit -= static_cast<int64_t>(weight) + kItem;
      bytes += weight;
    }
    queue->bytes -= bytes;
    bytes_.taken -= bytes;
    items_.taken -= end - begin;
    const bool all = end == queue->items.size();
    if (all && begin == 0 && out->empty()) {
      out->swap(queue->items);
    } else {
      std::move(queue->items.begin() + static_cast<std::ptrdiff_t>(begin),
                queue->items.begin() + static_cast<std::ptrdiff_t>(end),
                std::back_inserter(*out));
    }
    queue->next = end;
    if (all || 2 * end > queue->items.size()) Forget(queue);
    return credit - queue->credit;
  }

  // What is taken.
  static void Forget(Queue* queue) {
    const auto count = static_cast<std::ptrdiff_t>(queue->next);
    queue->next = 0;
    queue->weights.erase(queue->weights.begin(),
                         queue->weights.begin() + count);
    if (!queue->weights.empty()) {
      queue->items.erase(queue->items.begin(), queue->items.begin() + count);
    } else if (queue->items.capacity() > kKept) {
      std::vector<T>().swap(queue->items);
    } else {
      queue->items.clear();
    }
  }

  // What taking an item costs beside its bytes. Ours.
  static constexpr int64_t kItem = 256;
  // Queues that are kept when they are empty, and room for so many items in
  // each: 100 KB. Ours.
  static constexpr size_t kQueues = 64;
  static constexpr size_t kKept = 64;
  // ... and room for so many in what was taken: 800 KB, where a flood made it
  // 26 MB. Ours.
  static constexpr size_t kKeptOutside = 512;

  // Constant after construction.
  const size_t items_max_;
  const int64_t turn_bytes_;

  Mutex mutex_;
  std::condition_variable filled_;
  FairShare items_ GUARDED_BY(mutex_);
  FairShare bytes_ GUARDED_BY(mutex_);
  std::unordered_map<User, Queue> queues_ GUARDED_BY(mutex_);  // looked up only
  std::deque<User> turns_ GUARDED_BY(mutex_);  // who has something, in turns
  bool closed_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_FAIR_MAILBOX_H_
