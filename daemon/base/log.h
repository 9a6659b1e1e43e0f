// The daemon's log: one line for each change of state, `key=value` after a
// constant message, never one for each record. Only this header is included for
// logging; pure folders do not log.

#ifndef NANWATCH_BASE_LOG_H_
#define NANWATCH_BASE_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace nanwatch {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Where the lines go: standard error, as text or as one JSON object a line.
void InitLog(LogLevel level, bool json);

// `message` is a constant sentence, `detail` the key=value part (may be empty).
// Control characters in `detail` are escaped. Any thread.
void Log(LogLevel level, std::string_view message,
         std::string_view detail = "");

inline void LogInfo(std::string_view m, std::string_view d = "") {
  Log(LogLevel::kInfo, m, d);
}
inline void LogWarning(std::string_view m, std::string_view d = "") {
  Log(LogLevel::kWarning, m, d);
}
inline void LogError(std::string_view m, std::string_view d = "") {
  Log(LogLevel::kError, m, d);
}

// Lets one line through an interval and counts the rest, so that a failure that
// repeats a thousand times a second is one line with a count. One thread each.
class LogThrottle {
 public:
  explicit LogThrottle(Duration interval) : interval_(interval) {}
  // True when the caller should log now; `*suppressed` is how many were not
  // logged since the last time.
  bool Allow(Time now, int64_t* suppressed);

 private:
  const Duration interval_;
  Time last_{};
  int64_t suppressed_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_LOG_H_
