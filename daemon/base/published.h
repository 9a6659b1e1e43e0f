// Published<T>: the latest immutable value, from one writer to many readers.

#ifndef NANWATCH_BASE_PUBLISHED_H_
#define NANWATCH_BASE_PUBLISHED_H_

#include <memory>
#include <utility>

#include "base/mutex.h"

namespace nanwatch {

template <typename T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> first)
      : value_(std::move(first)) {}

  // Any thread. Readers keep what they got as long as they hold it.
  std::shared_ptr<const T> Get() const {
    MutexLock lock(mutex_);
    return value_;
  }

  // The writer's thread. The old value dies outside the lock.
  void Set(std::shared_ptr<const T> next) {
    {
      MutexLock lock(mutex_);
      value_.swap(next);
    }
    next.reset();
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_PUBLISHED_H_
