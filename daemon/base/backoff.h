// Exponential backoff with jitter. Pure: the caller brings the random bits.

#ifndef NANWATCH_BASE_BACKOFF_H_
#define NANWATCH_BASE_BACKOFF_H_

#include <cstdint>

#include "base/time.h"

namespace nanwatch {

class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest) {}

  // The next wait: between half and all of first * 2^n, at most `longest`.
  // `random` is any 64 random bits.
  Duration Next(uint64_t random);
  // Something went well: begin again at `first`.
  void Reset() { tries_ = 0; }
  int tries() const { return tries_; }

 private:
  const Duration first_;
  const Duration longest_;
  int tries_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_BACKOFF_H_
