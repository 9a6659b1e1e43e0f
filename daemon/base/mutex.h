// A mutex that clang's -Wthread-safety can follow.

#ifndef NANWATCH_BASE_MUTEX_H_
#define NANWATCH_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define NANWATCH_TS(x) __attribute__((x))
#else
#define NANWATCH_TS(x)
#endif

// The abseil beneath gRPC defines it, too, and means the same.
#undef GUARDED_BY
#define GUARDED_BY(x) NANWATCH_TS(guarded_by(x))
#define REQUIRES_LOCK(x) NANWATCH_TS(requires_capability(x))

namespace nanwatch {

class NANWATCH_TS(capability("mutex")) Mutex {
 public:
  void lock() NANWATCH_TS(acquire_capability()) { mutex_.lock(); }
  void unlock() NANWATCH_TS(release_capability()) { mutex_.unlock(); }
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class NANWATCH_TS(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& m) NANWATCH_TS(acquire_capability(m)) : m_(m) {
    m_.lock();
  }
  ~MutexLock() NANWATCH_TS(release_capability()) { m_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& m_;
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_MUTEX_H_
