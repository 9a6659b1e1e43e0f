// Until when something may take.

#ifndef NANWATCH_WEB_DEADLINE_H_
#define NANWATCH_WEB_DEADLINE_H_

#include <algorithm>
#include <chrono>

namespace nanwatch {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline In(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// For poll; 0: it is over.
inline int MillisecondsTo(Deadline end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      end - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count()));
}

}  // namespace nanwatch

#endif  // NANWATCH_WEB_DEADLINE_H_
