// Quota: a token bucket of bytes. One thread; time is an argument.

#ifndef NANWATCH_RPC_QUOTA_H_
#define NANWATCH_RPC_QUOTA_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace nanwatch {

class Quota {
 public:
  // Begins full: one second's worth.
  explicit Quota(int64_t bytes_per_second)
      : rate_(bytes_per_second), left_(bytes_per_second) {}

  // Takes `bytes`, unless the bucket is empty; it may go below zero once, so
  // that a large message is paid for afterwards.
  bool Take(Time now, int64_t bytes) {
    if (now > last_) {
      const Duration gone =
          std::min<Duration>(now - last_, std::chrono::seconds(1));
      left_ = std::min(rate_, left_ + rate_ * gone.count() / 1000000);
      last_ = now;
    }
    if (left_ <= 0) return false;
    left_ -= bytes;
    return true;
  }

  // Until Take may succeed again.
  Duration Wait() const {
    return left_ > 0 ? Duration(0) : Duration(1 - left_ * 1000000 / rate_);
  }

 private:
  const int64_t rate_;
  int64_t left_;
  Time last_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_QUOTA_H_
