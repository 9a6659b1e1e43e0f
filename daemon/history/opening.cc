#include "history/opening.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "base/file.h"
#include "history/event_blob.h"
#include "history/log_check.h"
#include "history/salvage.h"
#include "history/schema.h"
#include "model/limits.h"

namespace nanwatch {

namespace {

// How long the check at the start may take: some GB of a file in memory. What a
// longer check would find, readers find and count.
constexpr Duration kCheckFor = std::chrono::seconds(1);

enum class Found { kUsable, kEmpty, kDamaged, kForeign, kNewer, kUnwritable };

// Of blobs that say what their row says. Ids of one blob span less than
// limits::kHistoryIdSpan, so the newest is near the end. An error, too, when
// the very last rows are damaged: their ids, of all, must not come twice.
Result<uint64_t> NewestStored(Database& database) {
  Result<Statement> find = database.Prepare(
      "SELECT first_id, body FROM events ORDER BY first_id DESC");
  if (!find) return Error{find.error()};
  Decompressor decompressor;
  std::string plain;
  uint64_t newest = 0;
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return newest;
    const uint64_t first_id = find->Int(0);
    if (first_id + limits::kHistoryIdSpan <= newest) return newest;
    StampedEvent event;
    BlobReader reader("");
    if (decompressor.Decompress(find->Blob(1), &plain)) {
      reader = BlobReader(plain);
    }
    if (!reader.Next(&event) || event.id != first_id) {
      if (newest > first_id) continue;
      return Error{database.path() + ": its newest events are damaged"};
    }
    do newest = std::max(newest, event.id);
    while (reader.Next(&event));
  }
}

Found VerdictOf(Database::Failure failure) {
  switch (failure) {
    case Database::Failure::kDamaged:
      return Found::kDamaged;
    case Database::Failure::kForeign:
      return Found::kForeign;
    default:
      return Found::kUnwritable;
  }
}

// Can it be written? Asked by a transaction that writes nothing.
bool Writable(Database& database) {
  return database
      .Execute("PRAGMA user_version = " + std::to_string(kFormatVersion))
      .ok();
}

// `*why` says what was found.
Found Inspect(Database& database, uint64_t keep_bytes, std::string* why) {
  const Result<SchemaVerdict> schema = CheckSchema(database);
  if (!schema) {
    *why = schema.error();
    return VerdictOf(database.failure());
  }
  switch (*schema) {
    case SchemaVerdict::kEmpty:
      return Found::kEmpty;
    case SchemaVerdict::kNewer:
      *why = "it is of a newer nanwatch";
      return Found::kNewer;
    case SchemaVerdict::kForeign:
      *why = "it is not a nanwatch history";
      return Found::kForeign;
    case SchemaVerdict::kOurs:
      break;
  }
  // Before the check, which takes its time: while a disk is full this is asked
  // again and again.
  if (!SetDurable(database, keep_bytes) || !Writable(database)) {
    *why = database.LastError().message;
    return VerdictOf(database.failure());
  }
  bool ended = false;
  const Result<std::string> check =
      database.TextWithin(kCheckFor, "PRAGMA integrity_check(1)", &ended);
  if (!ended && check && *check != "ok") {
    *why = *check;
    return Found::kDamaged;
  }
  if (!ended && !check && database.IsDamaged()) {
    *why = check.error();
    return Found::kDamaged;
  }
  // Stopped for taking too long: nothing bad so far. And the tables are there?
  if (const Status tables = CheckTables(database); !tables) {
    *why = tables.error();
    return Found::kDamaged;
  }
  if (const Result<uint64_t> newest = NewestStored(database); !newest) {
    *why = newest.error();
    return Found::kDamaged;
  }
  return Found::kUsable;
}

// Of a verdict for which a file is set aside.
Unusable UnusableFor(Found verdict) {
  switch (verdict) {
    case Found::kNewer:
      return Unusable::kNewer;
    case Found::kForeign:
      return Unusable::kForeign;
    default:
      return Unusable::kDamaged;
  }
}

std::string Suffix(Unusable unusable, Time now) {
  const std::time_t seconds = ToMicros(now) / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
  return "." + std::string(Name(unusable)) + "-" + stamp;
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

// SQLite would refuse its header.
bool IsNoDatabase(const std::string& path) {
  const std::string head = ReadHead(path, 16);
  return !head.empty() && head != std::string("SQLite format 3\0", 16);
}

// Its first bytes are wrong, and further on its header has our mark.
bool WasOurs(const std::string& path) {
  const std::string head = ReadHead(path, 72);
  if (head.size() < 72) return false;
  int64_t id = 0;  // SQLite's application_id, big-endian
  for (size_t i = 68; i < 72; ++i) id = id << 8 | static_cast<uint8_t>(head[i]);
  return id == kApplicationId;
}

// SQLite does not write a database whose header names a format that it does not
// know (ours always say 2, the write-ahead log's), and does not read one with
// an unknown format of the schema (4 is the newest); neither error says
// "damaged".
bool FormatIsUnknown(const std::string& path) {
  const std::string head = ReadHead(path, 48);
  return head.size() == 48 && (static_cast<uint8_t>(head[18]) > 2 ||
                               static_cast<uint8_t>(head[47]) > 4);
}

Result<std::optional<Database>> Create(const HistoryOptions& options) {
  Result<Database> database =
      Database::Open(options.path, Database::Mode::kWrite, options.vfs);
  if (!database) return std::optional<Database>();
  Status made = CreateTables(*database);
  if (made) made = SetDurable(*database, options.keep_bytes);
  if (!made) return std::optional<Database>();
  return std::optional<Database>(std::move(*database));
}

Result<std::optional<Database>> StartAnew(const HistoryOptions& options,
                                          Found verdict, const std::string& why,
                                          Time now, OpenReport* report) {
  const Unusable unusable = UnusableFor(verdict);
  const std::string name = options.path + Suffix(unusable, now);
  std::string aside = name;
  for (int n = 2; FileExists(aside); ++n) {
    aside = name + "-" + std::to_string(n);
  }
  report->message += options.path + " cannot be used: " + why + ". ";
  if (Status s = SetAside(options.path, aside); !s) {
    report->degraded = true;
    report->message += s.error() + ": history is off until this is mended";
    return std::optional<Database>();
  }
  report->set_aside = aside;
  report->unusable = unusable;
  report->message += "It was set aside as " + aside + ". ";
  Result<std::optional<Database>> fresh = Create(options);
  if (!fresh) return fresh;
  report->created = fresh->has_value();
  report->degraded = !fresh->has_value();
  if (fresh->has_value() && verdict == Found::kDamaged) {
    const Salvaged salvaged = Salvage(aside, **fresh);
    report->message += salvaged.sentence;
    report->lost_events = salvaged.lost_events;
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
  report->message = existed ? DamageOfLog(options.path) : "";
  Found verdict = Found::kEmpty;
  std::string why;
  if (existed && IsNoDatabase(options.path)) {
    const bool ours = WasOurs(options.path);
    why = ours ? "its first bytes are damaged" : "it is not an SQLite database";
    verdict = ours ? Found::kDamaged : Found::kForeign;
    return StartAnew(options, verdict, why, now, report);
  }
  {
    Result<Database> database =
        Database::Open(options.path, Database::Mode::kWrite, options.vfs);
    if (database) {
      verdict = Inspect(*database, options.keep_bytes, &why);
      if (verdict == Found::kUsable) {
        return std::optional<Database>(std::move(*database));
      }
    } else {
      verdict = Found::kUnwritable;
      why = database.error();
    }
  }
  if (verdict == Found::kEmpty) {
    Result<std::optional<Database>> fresh = Create(options);
    if (!fresh) return fresh;
    report->created = fresh->has_value();
    report->degraded = !fresh->has_value();
    if (report->degraded) {
      report->message += options.path +
                         " cannot be created or written (read-"
                         "only, or the disk is full): history is off until it "
                         "can";
    }
    return fresh;
  }
  if (verdict == Found::kUnwritable && FormatIsUnknown(options.path)) {
    verdict = Found::kDamaged;
  }
  if (verdict == Found::kUnwritable) {
    report->degraded = true;
    report->message += why + ": history is off until it can be written";
    return std::optional<Database>();
  }
  return StartAnew(options, verdict, why, now, report);
}

Result<uint64_t> NewestId(Database& database) {
  const Result<uint64_t> newest = NewestStored(database);
  if (!newest) return newest;
  const Result<int64_t> passed_over = database.Number(
      "SELECT max(coalesce((SELECT max(last_id) FROM gaps), 0), "
      "coalesce((SELECT value FROM meta WHERE key = 'removed_through'), 0))");
  if (!passed_over) return Error{passed_over.error()};
  return std::max(*newest, static_cast<uint64_t>(*passed_over));
}

}  // namespace nanwatch
