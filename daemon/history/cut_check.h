// What SQLite will not say of a database that it is told to read all the same:
// how much of it was cut off.

#ifndef NANWATCH_HISTORY_CUT_CHECK_H_
#define NANWATCH_HISTORY_CUT_CHECK_H_

#include <cstdint>
#include <string>

namespace nanwatch {

// By how many bytes the database `path` is shorter than its head says. 0: it is
// whole, its head does not say, or its log, which may hold the rest, is beside
// it.
uint64_t BytesCutOff(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_CUT_CHECK_H_
