#include "base/backoff.h"

#include <algorithm>

namespace nanwatch {

Duration Backoff::Next(uint64_t random) {
  const int doublings = std::min(tries_++, 30);
  const int64_t full = std::min(first_.count() << doublings, longest_.count());
  const int64_t half = full / 2;
  return Duration(half + static_cast<int64_t>(random % (full - half + 1)));
}

}  // namespace nanwatch
