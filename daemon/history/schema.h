// The tables of a history file. What they mean and why: FORMAT.md.

#ifndef NANWATCH_HISTORY_SCHEMA_H_
#define NANWATCH_HISTORY_SCHEMA_H_

#include <cstdint>
#include <string>

#include "history/database.h"
#include "model/event.h"

namespace nanwatch {

inline constexpr int64_t kApplicationId = 0x6e616e77;  // "nanw"
inline constexpr int64_t kFormatVersion = 1;
// To this many bytes SQLite cuts a log that a long reader let grow.
inline constexpr int64_t kLogKeptBytes = 32 << 20;

// Index in EventBody; stored, so new kinds go to the variant's end.
enum class EventKind : uint8_t {
  kDaemonStarted,
  kRulesLoaded,
  kRunOpened,
  kRankOpened,
  kOpNames,
  kSteps,
  kOps,
  kDropped,
  kRankLost,
  kRankClosed,
  kRunClosed,
  kAnnotation,
  kCheckpoint,
  kRecordsEnded,
  kBenchmarkSet,
};
inline EventKind KindOf(const Event& event) {
  return static_cast<EventKind>(event.body.index());
}
inline bool IsBatch(EventKind kind) {
  return kind == EventKind::kSteps || kind == EventKind::kOps;
}
// Kept until the run itself goes: without them what is left of a run could not
// be read. Every other event goes with its age, once a checkpoint holds what it
// did.
inline bool IsPinned(EventKind kind) {
  return kind == EventKind::kRunOpened || kind == EventKind::kRankOpened ||
         kind == EventKind::kOpNames || kind == EventKind::kAnnotation ||
         kind == EventKind::kRankClosed || kind == EventKind::kRunClosed ||
         kind == EventKind::kRecordsEnded || kind == EventKind::kBenchmarkSet;
}

// A file that SQLite just made: turns its write-ahead log on, then makes the
// tables in one transaction.
Status CreateTables(Database& database);
// An error: a table or index is missing, or is not as CreateTables makes it.
Status CheckTables(Database& database);
// For every writing connection. Of a small file (`keep_bytes`, 0: no bound) the
// log is kept small, too.
Status SetDurable(Database& database, uint64_t keep_bytes);
// Takes down, in the database itself and not only in its log, that it is open:
// a copy of it alone is then known to lack the log.
Status MarkOpen(Database& database, bool open);
Result<bool> SaysOpen(Database& database);

enum class SchemaVerdict { kOurs, kEmpty, kForeign, kNewer };
Result<SchemaVerdict> CheckSchema(Database& database);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_SCHEMA_H_
