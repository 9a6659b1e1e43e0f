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

  // Takes `bytes`, also those that are not there. Returns how long it takes
  // until they are paid for. `passed` is as of Clock::Passed().
  Duration Take(Duration passed, int64_t bytes) {
    if (passed > last_) {
      const Duration gone =
          std::min<Duration>(passed - last_, std::chrono::seconds(1));
      // Doubles: the product may be above 2^63.
      const double more = static_cast<double>(rate_) * ToSeconds(gone);
      left_ = std::min(rate_, left_ + static_cast<int64_t>(more));
      last_ = passed;
    }
    left_ -= bytes;
    if (left_ >= 0) return Duration(0);
    const double seconds =
        static_cast<double>(-left_) / static_cast<double>(rate_);
    return Duration(1 + static_cast<int64_t>(1e6 * seconds));
  }

  // From here on.
  void SetRate(int64_t bytes_per_second) {
    rate_ = bytes_per_second;
    left_ = std::min(left_, rate_);
  }

 private:
  int64_t rate_;
  int64_t left_;
  Duration last_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_QUOTA_H_
