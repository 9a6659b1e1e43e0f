#include "history/retention.h"

#include <algorithm>
#include <string>
#include <vector>

#include "history/schema.h"

namespace nanwatch {

namespace {

// One round: what takes a few milliseconds, and more than a commit brings.
constexpr int64_t kRowsLookedAt = 4096;
constexpr int64_t kRowsRemoved = 1024;
constexpr uint64_t kBytesRemoved = 8 << 20;
constexpr int64_t kRunsRemoved = 8;
constexpr int64_t kPicturesRemoved = 256;

}  // namespace

Result<uint64_t> Retention::Round(Time now, Database& database) {
  behind_ = false;
  if (Status s = Measure(now, database); !s) return Error{s.error()};
  if (over_ == 0 && cutoff_us_ == INT64_MIN) return uint64_t{0};
  if (Status s = database.Execute("BEGIN IMMEDIATE"); !s) {
    return Error{s.error()};
  }
  uint64_t removed = 0;
  removed_through_ = 0;
  Status done = RemoveAll(database, &removed);
  if (done) done = database.Execute("COMMIT");
  if (!done) {
    database.Rollback();
    return Error{done.error()};
  }
  return removed;
}

Status Retention::RemoveAll(Database& database, uint64_t* removed) {
  bool finished = false;
  if (Status s = RemoveEvents(database, removed, &finished); !s) return s;
  if (finished) {
    const uint64_t before = *removed;
    if (Status s = RemoveRuns(database, removed); !s) return s;
    if (Status s = RemoveRules(database, removed); !s) return s;
    const bool desperate = over_ != 0 && *removed == 0;
    if (Status s = RemovePictures(database, desperate); !s) return s;
    behind_ = *removed != before;
  } else {
    behind_ = true;
  }
  return removed_through_ == 0 ? OkStatus() : SaveRemoved(database);
}

// Pages in use, not the file's size: freed pages are used again first.
Status Retention::Measure(Time now, Database& database) {
  cutoff_us_ = keep_for_ == Duration(0) ? INT64_MIN : ToMicros(now - keep_for_);
  over_ = 0;
  if (keep_bytes_ == 0) return OkStatus();
  const Result<int64_t> pages = database.Number("PRAGMA page_count");
  if (!pages) return Error{pages.error()};
  const Result<int64_t> free = database.Number("PRAGMA freelist_count");
  if (!free) return Error{free.error()};
  const Result<int64_t> size = database.Number("PRAGMA page_size");
  if (!size) return Error{size.error()};
  const uint64_t used = (*pages - *free) * *size;
  if (used > keep_bytes_) over_ = used - keep_bytes_;
  return OkStatus();
}

bool Retention::MayGo(const Row& row) {
  const EventKind kind = static_cast<EventKind>(row.kind);
  if (row.run == 0 || IsPinned(kind)) return false;
  const CatalogRun* live = catalog_.FindRow(row.run);
  if (live == nullptr) return true;
  const int64_t checkpoint = static_cast<int64_t>(live->checkpoint);
  if (row.last_id < checkpoint) return true;
  if (row.first_id != checkpoint) catalog_.RequireCheckpoint(row.run);
  return false;
}

Status Retention::RemoveEvents(Database& database, uint64_t* removed,
                               bool* finished) {
  Result<Statement> find = database.Prepare(
      "SELECT first_id, last_id, count, kind, run, last_us, length(body) FROM "
      "events WHERE first_id > ? ORDER BY first_id LIMIT ?");
  if (!find) return Error{find.error()};
  find->Bind(1, cursor_).Bind(2, kRowsLookedAt);
  std::vector<int64_t> going;
  uint64_t bytes = 0;
  int64_t looked_at = 0;
  *finished = false;
  while (static_cast<int64_t>(going.size()) < kRowsRemoved &&
         bytes < kBytesRemoved) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) {
      *finished = looked_at < kRowsLookedAt;
      break;
    }
    ++looked_at;
    const Row row{find->Int(0), find->Int(1), find->Int(2), find->Int(3),
                  find->Int(4), find->Int(5), find->Int(6)};
    if (row.last_us >= cutoff_us_ && bytes >= over_) {
      *finished = true;
      break;
    }
    cursor_ = row.first_id;
    if (!MayGo(row)) continue;
    going.push_back(row.first_id);
    bytes += row.bytes;
    *removed += row.count;
    removed_through_ = std::max(removed_through_, row.last_id);
  }
  find->Reset();
  // What was kept waits for its checkpoint, or stays: the next sweep looks
  // again.
  if (*finished) cursor_ = 0;
  Result<Statement> remove =
      database.Prepare("DELETE FROM events WHERE first_id = ?");
  if (!remove) return Error{remove.error()};
  for (const int64_t id : going) {
    if (Status s = remove->Bind(1, id).Run(); !s) return s;
  }
  return OkStatus();
}

// Removes ended runs that have no batch left.
Status Retention::RemoveRuns(Database& database, uint64_t* removed) {
  Result<Statement> find = database.Prepare(
      "SELECT run FROM runs WHERE ended_us IS NOT NULL AND (ended_us < ?1 OR "
      "?2) AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.run "
      "AND kind IN (5, 6)) ORDER BY ended_us LIMIT ?3");
  if (!find) return Error{find.error()};
  find->Bind(1, cutoff_us_).Bind(2, int64_t{over_ != 0}).Bind(3, kRunsRemoved);
  std::vector<int64_t> runs;
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) break;
    runs.push_back(find->Int(0));
  }
  for (const int64_t run : runs) {
    if (Status s = RemoveRun(run, database, removed); !s) return s;
  }
  return OkStatus();
}

Status Retention::RemoveRun(int64_t run, Database& database,
                            uint64_t* removed) {
  const std::string row = std::to_string(run);
  const Result<int64_t> events =
      database.Number("SELECT sum(count) FROM events WHERE run = " + row);
  if (!events) return Error{events.error()};
  const Result<int64_t> last =
      database.Number("SELECT max(last_id) FROM events WHERE run = " + row);
  if (!last) return Error{last.error()};
  *removed += *events;
  removed_through_ = std::max(removed_through_, *last);
  for (const char* table : {"events", "pictures", "incidents_sent", "runs"}) {
    if (Status s = database.Execute(std::string("DELETE FROM ") + table +
                                    " WHERE run = " + row);
        !s) {
      return s;
    }
  }
  return OkStatus();
}

// Starts and rules that were no longer in force at the cutoff.
Status Retention::RemoveRules(Database& database, uint64_t* removed) {
  if (cutoff_us_ == INT64_MIN) return OkStatus();
  for (const EventKind kind :
       {EventKind::kDaemonStarted, EventKind::kRulesLoaded}) {
    const std::string old =
        " FROM events WHERE run = 0 AND kind = " +
        std::to_string(static_cast<int>(kind)) +
        " AND first_id < (SELECT "
        "max(first_id) FROM events WHERE run = 0 AND kind = " +
        std::to_string(static_cast<int>(kind)) + " AND last_us < " +
        std::to_string(cutoff_us_) + ")";
    const Result<int64_t> events = database.Number("SELECT count(*)" + old);
    if (!events) return Error{events.error()};
    if (*events == 0) continue;
    *removed += *events;
    const Result<int64_t> last = database.Number("SELECT max(last_id)" + old);
    if (!last) return Error{last.error()};
    removed_through_ = std::max(removed_through_, *last);
    if (Status s = database.Execute("DELETE" + old); !s) return s;
  }
  return OkStatus();
}

// Of live runs, by age; when nothing else is left to remove, the oldest.
Status Retention::RemovePictures(Database& database, bool desperate) {
  const std::string cutoff =
      desperate ? std::to_string(INT64_MAX) : std::to_string(cutoff_us_);
  return database.Execute(
      "DELETE FROM pictures WHERE last_us < " + cutoff +
      " AND rowid IN (SELECT rowid FROM pictures ORDER BY rowid LIMIT " +
      std::to_string(kPicturesRemoved) + ")");
}

Status Retention::SaveRemoved(Database& database) {
  return database.Execute(
      "INSERT INTO meta VALUES ('removed_through', " +
      std::to_string(removed_through_) +
      ") ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)");
}

}  // namespace nanwatch
