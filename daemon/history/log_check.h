// What SQLite will not say of a write-ahead log: that it is damaged. It takes
// the transactions before the damage, passes over the rest in silence, and
// writes over it.

#ifndef NANWATCH_HISTORY_LOG_CHECK_H_
#define NANWATCH_HISTORY_LOG_CHECK_H_

#include <string>

namespace nanwatch {

// The log of the database `path`, before SQLite opens it. A sentence that says
// what of it is gone; empty: nothing, as far as can be told. A log that was cut
// looks like one that a crash left, and says nothing.
std::string DamageOfLog(const std::string& path);

// What to say of the database `path` that is marked as open and has no log
// beside it.
std::string MissingLog(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_LOG_CHECK_H_
