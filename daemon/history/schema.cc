#include "history/schema.h"

#include <algorithm>
#include <string>
#include <variant>

namespace nanwatch {

static_assert(std::variant_size_v<EventBody> ==
              static_cast<size_t>(EventKind::kBenchmarkSet) + 1);

namespace {

constexpr uint64_t kPageBytes = 4096;  // SQLite's default
// 16 MB between checkpoints of the log: each page is then moved to the database
// less often than it was written. Not so where that is as much as the file may
// hold.
constexpr uint64_t kLogPages = 4096;
constexpr uint64_t kLogPagesLeast = 256;
constexpr uint64_t kLogShare = 16;  // of the file's bound

constexpr char kTables[] = R"(
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value) WITHOUT ROWID;
CREATE TABLE events (
  first_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL,
  count INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  run INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  place INTEGER NOT NULL,
  records INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  last_us INTEGER NOT NULL,
  body BLOB NOT NULL);
CREATE INDEX events_of ON events
  (run, kind, rank, place, records, first_step, last_step, last_id);
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  opened_us INTEGER NOT NULL,
  ended_us INTEGER,
  end_reason TEXT NOT NULL DEFAULT '',
  last_step INTEGER NOT NULL DEFAULT 0,
  UNIQUE (run_id, attempt));
CREATE TABLE incidents_sent (
  run INTEGER NOT NULL,
  incident INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, incident)) WITHOUT ROWID;
CREATE TABLE pictures (
  run INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  records INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  last_us INTEGER NOT NULL,
  body BLOB NOT NULL);
CREATE UNIQUE INDEX pictures_of ON pictures
  (run, rank, level, place, records, first_step, last_step);
CREATE TABLE gaps (
  first_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL,
  reason TEXT NOT NULL);
)";

}  // namespace

Status CreateTables(Database& database) {
  const std::string identity =
      "PRAGMA application_id = " + std::to_string(kApplicationId) +
      "; PRAGMA user_version = " + std::to_string(kFormatVersion) + ";";
  // Outside a transaction, before it is a database at all.
  const Result<std::string> mode = database.Text("PRAGMA journal_mode = WAL");
  if (!mode) return Error{mode.error()};
  if (*mode != "wal") {
    return Error{database.path() + ": this file system has no shared memory " +
                 "for a write-ahead log; put the history elsewhere"};
  }
  Status made =
      database.Execute("BEGIN IMMEDIATE;" + identity + kTables + "COMMIT;");
  if (!made) database.Rollback();
  return made;
}

Status SetDurable(Database& database, uint64_t keep_bytes) {
  uint64_t pages = kLogPages;
  if (keep_bytes != 0) {
    pages = std::clamp(keep_bytes / kLogShare / kPageBytes, kLogPagesLeast,
                       kLogPages);
  }
  return database.Execute(
      "PRAGMA synchronous = FULL;"
      // Freed pages are used again soon: no need to overwrite them first.
      "PRAGMA secure_delete = OFF;"
      "PRAGMA wal_autocheckpoint = " +
      std::to_string(pages) +
      ";"
      "PRAGMA journal_size_limit = " +
      std::to_string(kLogKeptBytes) +
      ";"
      "PRAGMA cache_size = -4096;"
      "PRAGMA temp_store = MEMORY;");
}

Status MarkOpen(Database& database, bool open) {
  return database.Execute("INSERT OR REPLACE INTO meta VALUES ('open', " +
                          std::to_string(int{open}) +
                          "); PRAGMA wal_checkpoint(TRUNCATE);");
}

Result<bool> SaysOpen(Database& database) {
  const Result<int64_t> open =
      database.Number("SELECT value FROM meta WHERE key = 'open'");
  if (!open) return Error{open.error()};
  return *open != 0;
}

Status CheckTables(Database& database) {
  Result<Database> ours =
      Database::Open(":memory:", Database::Mode::kWrite, "");
  if (!ours) return Error{ours.error()};
  if (Status s = ours->Execute(kTables); !s) return s;
  Result<Statement> each = ours->Prepare(
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL");
  if (!each) return Error{each.error()};
  Result<Statement> same = database.Prepare(
      "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql = ?");
  if (!same) return Error{same.error()};
  while (true) {
    const Result<bool> row = each->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    const std::string name(each->Text(0));
    same->Bind(1, each->Text(0)).Bind(2, each->Text(1));
    const Result<bool> found = same->Next();
    if (!found) return Error{found.error()};
    if (!*found) {
      return Error{database.path() + ": what " + name + " holds is not as " +
                   "nanwatchd made it"};
    }
    same->Reset();
  }
}

Result<SchemaVerdict> CheckSchema(Database& database) {
  const Result<int64_t> id = database.Number("PRAGMA application_id");
  if (!id) return Error{id.error()};
  const Result<int64_t> version = database.Number("PRAGMA user_version");
  if (!version) return Error{version.error()};
  if (*id == kApplicationId) {
    return *version > kFormatVersion ? SchemaVerdict::kNewer
                                     : SchemaVerdict::kOurs;
  }
  const Result<int64_t> tables =
      database.Number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return Error{tables.error()};
  return *id == 0 && *tables == 0 ? SchemaVerdict::kEmpty
                                  : SchemaVerdict::kForeign;
}

}  // namespace nanwatch
