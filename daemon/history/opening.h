// Opening a history file: whatever it holds, the daemon gets one that it can
// write, or is told that there is none for now.

#ifndef NANWATCH_HISTORY_OPENING_H_
#define NANWATCH_HISTORY_OPENING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "history/database.h"
#include "history/history.h"

namespace nanwatch {

// nullopt: it cannot be written now (read-only, disk full): degraded. A
// damaged, foreign or newer file is set aside under a name with `now` in it;
// what can be read of a damaged one is copied. An error: the path can never be
// used.
Result<std::optional<Database>> OpenFile(const HistoryOptions& options,
                                         Time now, OpenReport* report);

// The newest id in the file, removed and lost ones included.
Result<uint64_t> NewestId(Database& database);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_OPENING_H_
