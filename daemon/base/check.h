// CHECK: our own bug ends the process, in release builds too. Restart is cheap,
// because restart is replay.

#ifndef NANWATCH_BASE_CHECK_H_
#define NANWATCH_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace nanwatch {

[[noreturn]] inline void CheckFailed(const char* file, int line,
                                     const char* condition) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace nanwatch

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::nanwatch::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#endif  // NANWATCH_BASE_CHECK_H_
