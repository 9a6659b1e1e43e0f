// Time as data. Everything that decides takes `now` as an argument; only the
// shell of the daemon holds a Clock (base/clock.h).

#ifndef NANWATCH_BASE_TIME_H_
#define NANWATCH_BASE_TIME_H_

#include <chrono>
#include <cstdint>

namespace nanwatch {

using Duration = std::chrono::microseconds;
// Microseconds since the Unix epoch, UTC.
using Time = std::chrono::sys_time<Duration>;

inline int64_t ToMicros(Time t) { return t.time_since_epoch().count(); }
inline Time FromMicros(int64_t us) { return Time(Duration(us)); }
inline double ToSeconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace nanwatch

#endif  // NANWATCH_BASE_TIME_H_
