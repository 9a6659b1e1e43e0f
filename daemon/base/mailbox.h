// Mailbox<T>: the bounded hand-off between threads. Producers never wait: what
// does not fit is refused and stays with the caller. The one consumer takes all
// there is at once.

#ifndef NANWATCH_BASE_MAILBOX_H_
#define NANWATCH_BASE_MAILBOX_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace nanwatch {

template <typename T>
class Mailbox {
 public:
  // At most `items_max` items that weigh at most `bytes_max` together.
  Mailbox(size_t items_max, size_t bytes_max)
      : items_max_(items_max), bytes_max_(bytes_max) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Any thread. False: full or closed, and `item` is untouched.
  bool TryPush(T&& item, size_t bytes) {
    {
      MutexLock lock(mutex_);
      if (closed_ || items_.size() >= items_max_ ||
          (bytes_ + bytes > bytes_max_ && !items_.empty())) {
        return false;
      }
      bytes_ += bytes;
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
    return true;
  }

  // The consumer's thread. Waits until something is there, the mailbox is
  // closed, Wake() is called, or `wait` is over; moves all items into `*out`
  // (cleared first).
  void PopAll(Duration wait, std::vector<T>* out) {
    out->clear();
    std::unique_lock<std::mutex> lock(mutex_.native());
    filled_.wait_for(lock, wait, [&] { return Ready(); });
    TakeLocked(out);
  }

  // Makes a waiting PopAll return at once. Any thread.
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
    return items_.size();
  }
  size_t capacity() const { return items_max_; }

 private:
  bool Ready() NANWATCH_TS(no_thread_safety_analysis) {
    return !items_.empty() || closed_ || woken_;
  }
  void TakeLocked(std::vector<T>* out) NANWATCH_TS(no_thread_safety_analysis) {
    out->swap(items_);
    bytes_ = 0;
    woken_ = false;
  }

  // Constant after construction.
  const size_t items_max_;
  const size_t bytes_max_;

  Mutex mutex_;
  std::condition_variable filled_;
  std::vector<T> items_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  bool closed_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_MAILBOX_H_
