#include "history/opening.h"

#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "base/file.h"
#include "history/salvage.h"
#include "history/schema.h"

namespace nanwatch {

namespace {

// How long the check at the start may take, in SQLite operations: about a
// second. What a longer check would find, readers find and count.
constexpr int64_t kCheckOperations = 20'000'000;

enum class Verdict { kUsable, kEmpty, kDamaged, kForeign, kNewer, kUnwritable };

Verdict VerdictOf(Database::Failure failure) {
  switch (failure) {
    case Database::Failure::kDamaged:
      return Verdict::kDamaged;
    case Database::Failure::kForeign:
      return Verdict::kForeign;
    default:
      return Verdict::kUnwritable;
  }
}

// `*why` says what was found.
Verdict Inspect(Database& database, std::string* why) {
  const Result<SchemaVerdict> schema = CheckSchema(database);
  if (!schema) {
    *why = schema.error();
    return VerdictOf(database.failure());
  }
  switch (*schema) {
    case SchemaVerdict::kEmpty:
      return Verdict::kEmpty;
    case SchemaVerdict::kNewer:
      *why = "it is of a newer nanwatch";
      return Verdict::kNewer;
    case SchemaVerdict::kForeign:
      *why = "it is not a nanwatch history";
      return Verdict::kForeign;
    case SchemaVerdict::kOurs:
      break;
  }
  database.LimitOperations(kCheckOperations);
  const Result<std::string> check = database.Text("PRAGMA quick_check(1)");
  const Database::Failure failure = database.failure();
  database.LimitOperations(0);
  if (check && *check != "ok") {
    *why = *check;
    return Verdict::kDamaged;
  }
  if (!check && (failure == Database::Failure::kDamaged ||
                 failure == Database::Failure::kForeign)) {
    *why = check.error();
    return Verdict::kDamaged;
  }
  // Stopped for taking too long: nothing bad so far. And the tables are there?
  for (const char* table :
       {"meta", "events", "runs", "pictures", "gaps", "incidents_sent"}) {
    const Result<int64_t> any =
        database.Number(std::string("SELECT 1 FROM ") + table + " LIMIT 1");
    if (any) continue;
    *why = any.error();
    return Verdict::kDamaged;
  }
  return Verdict::kUsable;
}

std::string Suffix(Verdict verdict, Time now) {
  const std::time_t seconds = ToMicros(now) / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
  const char* kind = verdict == Verdict::kNewer     ? ".newer-"
                     : verdict == Verdict::kForeign ? ".foreign-"
                                                    : ".damaged-";
  return std::string(kind) + stamp;
}

// The database with its log; a log that stayed would be taken for the new
// file's.
Status SetAside(const std::string& path, const std::string& aside) {
  for (const char* part : {"-wal", "-shm"}) {
    if (!FileExists(path + part)) continue;
    if (Status s = RenameFile(path + part, aside + part); !s) return s;
  }
  return RenameFile(path, aside);
}

// A header that SQLite would refuse, or a database of somebody else, is told
// from damage by its first bytes.
bool LooksForeign(const std::string& path) {
  const std::string head = ReadHead(path, 16);
  return !head.empty() && head != std::string("SQLite format 3\0", 16);
}

Result<std::optional<Database>> Create(const HistoryOptions& options) {
  Result<Database> database =
      Database::Open(options.path, Database::Mode::kWrite, options.vfs);
  if (!database) return std::optional<Database>();
  Status made = CreateTables(*database);
  if (made) made = SetDurable(*database);
  if (!made) return std::optional<Database>();
  return std::optional<Database>(std::move(*database));
}

// Can it be written? Asked by a transaction that writes nothing.
bool Writable(Database& database) {
  return database
      .Execute("PRAGMA user_version = " + std::to_string(kFormatVersion))
      .ok();
}

Result<std::optional<Database>> StartAnew(const HistoryOptions& options,
                                          Verdict verdict,
                                          const std::string& why, Time now,
                                          OpenReport* report) {
  std::string aside = options.path + Suffix(verdict, now);
  for (int n = 2; FileExists(aside); ++n) {
    aside = options.path + Suffix(verdict, now) + "-" + std::to_string(n);
  }
  report->message = options.path + " cannot be used: " + why + ". ";
  if (Status s = SetAside(options.path, aside); !s) {
    report->degraded = true;
    report->message += s.error() + ": history is off until this is mended";
    return std::optional<Database>();
  }
  report->set_aside = aside;
  report->message += "It was set aside as " + aside + ". ";
  Result<std::optional<Database>> fresh = Create(options);
  if (!fresh) return fresh;
  report->created = fresh->has_value();
  report->degraded = !fresh->has_value();
  if (fresh->has_value() && verdict == Verdict::kDamaged) {
    report->message += Salvage(aside, **fresh);
  } else {
    report->message += "History begins anew.";
  }
  return fresh;
}

}  // namespace

Result<std::optional<Database>> OpenFile(const HistoryOptions& options,
                                         Time now, OpenReport* report) {
  if (IsDirectory(options.path)) {
    return Error{options.path + " is a directory: name a file in it"};
  }
  if (!IsDirectory(ParentDirectory(options.path))) {
    return Error{"the directory of " + options.path +
                 " does not exist: create it"};
  }
  const bool existed = FileBytes(options.path) != 0;
  Verdict verdict = Verdict::kEmpty;
  std::string why;
  if (existed && LooksForeign(options.path)) {
    why = "it is not an SQLite database";
    return StartAnew(options, Verdict::kForeign, why, now, report);
  }
  {
    Result<Database> database =
        Database::Open(options.path, Database::Mode::kWrite, options.vfs);
    if (database) {
      verdict = Inspect(*database, &why);
      if (verdict == Verdict::kUsable && SetDurable(*database)) {
        if (Writable(*database)) {
          return std::optional<Database>(std::move(*database));
        }
        why = database->LastError().message;
        verdict = Verdict::kUnwritable;
      }
    } else {
      verdict = Verdict::kUnwritable;
      why = database.error();
    }
  }
  if (verdict == Verdict::kEmpty) {
    Result<std::optional<Database>> fresh = Create(options);
    if (!fresh) return fresh;
    report->created = fresh->has_value();
    report->degraded = !fresh->has_value();
    if (report->degraded) {
      report->message = options.path +
                        " cannot be created or written (read-"
                        "only, or the disk is full): history is off until it "
                        "can";
    }
    return fresh;
  }
  if (verdict == Verdict::kUnwritable) {
    report->degraded = true;
    report->message = why + ": history is off until it can be written";
    return std::optional<Database>();
  }
  return StartAnew(options, verdict, why, now, report);
}

Result<uint64_t> NewestId(Database& database) {
  // Ids of one blob span at most limits::kHistoryIdSpan, so the newest is near
  // the end.
  const Result<int64_t> newest = database.Number(
      "SELECT max(coalesce((SELECT max(last_id) FROM events WHERE first_id > "
      "(SELECT max(first_id) FROM events) - 4096), 0), "
      "coalesce((SELECT max(last_id) FROM gaps), 0), "
      "coalesce((SELECT value FROM meta WHERE key = 'removed_through'), 0))");
  if (!newest) return Error{newest.error()};
  return static_cast<uint64_t>(*newest);
}

}  // namespace nanwatch
