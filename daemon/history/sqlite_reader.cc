#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

#include "base/file.h"
#include "history/cut_check.h"
#include "history/database.h"
#include "history/event_blob.h"
#include "history/event_scan.h"
#include "history/incident_codec.h"
#include "history/log_check.h"
#include "history/op_rows.h"
#include "history/picture_reader.h"
#include "history/reader.h"
#include "history/schema.h"

namespace nanwatch {

namespace {

// Gaps that are told one by one.
constexpr int64_t kGapsTold = 8;

// What was judged and never stored.
std::string MissingInGaps(Database& database) {
  std::string said;
  Result<Statement> find = database.Prepare(
      "SELECT first_id, last_id, reason FROM gaps WHERE last_id > coalesce("
      "(SELECT value FROM meta WHERE key = 'removed_through'), 0) "
      "ORDER BY first_id");
  if (!find) return said;
  int64_t gaps = 0;
  for (Result<bool> row = find->Next(); row && *row; row = find->Next()) {
    if (++gaps > kGapsTold) continue;
    said += database.path() + " lacks events " + std::to_string(find->Int(0)) +
            " to " + std::to_string(find->Int(1)) +
            ", which were judged and never stored (" +
            std::string(find->Text(2)) + "). ";
  }
  if (gaps > kGapsTold) {
    said += std::to_string(gaps - kGapsTold) + " later gaps are like it. ";
  }
  return said;
}

std::string InWords(Time time) {
  const std::time_t seconds = ToMicros(time) / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%F %T UTC", &parts);
  return text;
}

// Behind the last event that `scan` could read.
std::string MissingEnd(const std::string& path, const EventScan& scan,
                       Time newest) {
  std::string said;
  if (scan.end_is_damaged()) {
    said = newest == Time{}
               ? "Not one event can be read. "
               : "Whatever came after event " + std::to_string(scan.newest()) +
                     " of " + InWords(newest) +
                     " is gone, too: how much, nobody can say. ";
  }
  const uint64_t cut_off = BytesCutOff(path);
  if (cut_off == 0) return said;
  const uint64_t left = FileBytes(path);
  return said + path + " was cut: " + std::to_string(left) + " of its " +
         std::to_string(left + cut_off) + " bytes are there. ";
}

class SqliteReader : public HistoryReader {
 public:
  SqliteReader(Database database, std::string missing)
      : database_(std::move(database)), missing_(std::move(missing)) {}

  Status ForEachEvent(
      uint64_t after, const std::optional<RunKey>& run,
      const std::function<bool(const StampedEvent&)>& visit) override;
  uint64_t damaged_events() const override { return damaged_; }
  std::string missing() const override { return missing_ + missing_end_; }
  Status ForEachRestartEvent(
      std::string_view engine_version,
      const std::function<bool(const StampedEvent&)>& visit) override;
  Status ForEachEventFromCheckpoint(
      const RunKey& run, std::string_view engine_version,
      const std::function<bool(const StampedEvent&)>& visit) override;
  Result<std::vector<RunRow>> Runs() override;
  Result<std::vector<RunKey>> TrimmedRuns() override;
  Result<std::vector<StepBucket>> Steps(const StepQuery& query) override;
  Result<OpRows> Ops(const OpQuery& query) override;
  Result<std::vector<std::pair<RunKey, Incident>>> Sent() override;

 private:
  struct LiveRun {
    int64_t row = 0;
    RunKey key;
    uint64_t start = 0;  // id of its checkpoint; 0: from its first event
  };

  // Each run's newest usable checkpoint and what follows it; for a damaged
  // index every event, of `only` if it is given.
  Status FromCheckpoints(const std::vector<LiveRun>& runs,
                         std::string_view engine_version,
                         const std::optional<RunKey>& only,
                         const std::function<bool(const StampedEvent&)>& visit);
  Result<int64_t> RowOf(const RunKey& run);
  // Rows of the table `events` of one run with ids >= `start`.
  Status CollectRows(int64_t run, uint64_t start, std::vector<int64_t>* ids);
  // Those that have not ended, and those that ended in the last hour: people
  // still look at them.
  Result<std::vector<LiveRun>> LiveRuns();
  Result<uint64_t> UsableCheckpoint(int64_t run,
                                    std::string_view engine_version);
  Status Describe(int64_t run, RunRow* row);

  Database database_;
  const std::string missing_;
  std::string missing_end_;
  Decompressor decompressor_;
  uint64_t damaged_ = 0;
};

Status SqliteReader::ForEachEvent(
    uint64_t after, const std::optional<RunKey>& run,
    const std::function<bool(const StampedEvent&)>& visit) {
  EventScan scan(database_);
  Status status = OkStatus();
  if (!run) {
    Time newest{};
    status = scan.All(after, [&](const StampedEvent& stamped) {
      newest = stamped.now;
      return visit(stamped);
    });
    missing_end_ = MissingEnd(database_.path(), scan, newest);
  } else {
    const Result<int64_t> row = RowOf(*run);
    if (!row) return Error{row.error()};
    std::vector<int64_t> ids;
    if (Status s = CollectRows(0, after + 1, &ids); !s) return s;
    if (Status s = CollectRows(*row, after + 1, &ids); !s) return s;
    std::sort(ids.begin(), ids.end());
    status = scan.Rows(ids, after, [&](const StampedEvent& stamped) {
      const RunKey& key = stamped.event.run;
      return (key != *run && !key.run_id.empty()) || visit(stamped);
    });
  }
  damaged_ += scan.damaged();
  return status;
}

Status SqliteReader::ForEachRestartEvent(
    std::string_view engine_version,
    const std::function<bool(const StampedEvent&)>& visit) {
  Result<std::vector<LiveRun>> live = LiveRuns();
  if (!live) return ForEachEvent(0, std::nullopt, visit);
  return FromCheckpoints(*live, engine_version, std::nullopt, visit);
}

Status SqliteReader::ForEachEventFromCheckpoint(
    const RunKey& run, std::string_view engine_version,
    const std::function<bool(const StampedEvent&)>& visit) {
  const Result<int64_t> row = RowOf(run);
  if (!row) return Error{row.error()};
  return FromCheckpoints({{*row, run, 0}}, engine_version, run, visit);
}

Status SqliteReader::FromCheckpoints(
    const std::vector<LiveRun>& runs, std::string_view engine_version,
    const std::optional<RunKey>& only,
    const std::function<bool(const StampedEvent&)>& visit) {
  std::vector<int64_t> ids;
  std::map<RunKey, uint64_t> start;
  Status collected = CollectRows(0, 0, &ids);
  for (const LiveRun& run : runs) {
    if (!collected) break;
    const Result<uint64_t> checkpoint =
        UsableCheckpoint(run.row, engine_version);
    start[run.key] = checkpoint ? *checkpoint : 0;
    collected = CollectRows(run.row, start[run.key], &ids);
  }
  // A damaged index: everything there is, in order.
  if (!collected) return ForEachEvent(0, only, visit);
  std::sort(ids.begin(), ids.end());
  EventScan scan(database_);
  RunKey last;
  uint64_t from = 0;
  const Status status = scan.Rows(ids, 0, [&](const StampedEvent& stamped) {
    if (stamped.event.run != last) {
      last = stamped.event.run;
      const auto found = start.find(last);
      from = found == start.end() ? 0 : found->second;
    }
    return stamped.id < from || visit(stamped);
  });
  damaged_ += scan.damaged();
  return status;
}

Result<int64_t> SqliteReader::RowOf(const RunKey& run) {
  Result<Statement> find = database_.Prepare(
      "SELECT run FROM runs WHERE run_id = ? AND attempt = ?");
  if (!find) return Error{find.error()};
  find->Bind(1, run.run_id).Bind(2, int64_t{run.attempt});
  const Result<bool> found = find->Next();
  if (!found) return Error{found.error()};
  if (*found) return find->Int(0);
  return Error{"no run " + run.run_id + " attempt " +
               std::to_string(run.attempt) + " in " + database_.path()};
}

Status SqliteReader::CollectRows(int64_t run, uint64_t start,
                                 std::vector<int64_t>* ids) {
  Result<Statement> find = database_.Prepare(
      "SELECT first_id FROM events INDEXED BY events_of "
      "WHERE run = ? AND last_id >= ?");
  if (!find) return Error{find.error()};
  find->Bind(1, run).Bind(2, static_cast<int64_t>(start));
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return OkStatus();
    ids->push_back(find->Int(0));
  }
}

Result<std::vector<SqliteReader::LiveRun>> SqliteReader::LiveRuns() {
  Result<Statement> find = database_.Prepare(
      "SELECT run, run_id, attempt FROM runs WHERE ended_us IS NULL OR "
      "ended_us > (SELECT max(max(opened_us, coalesce(ended_us, 0))) FROM "
      "runs) - 3600000000");
  if (!find) return Error{find.error()};
  std::vector<LiveRun> runs;
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return runs;
    LiveRun& run = runs.emplace_back();
    run.row = find->Int(0);
    run.key = {std::string(find->Text(1)), static_cast<int32_t>(find->Int(2))};
  }
}

Result<uint64_t> SqliteReader::UsableCheckpoint(
    int64_t run, std::string_view engine_version) {
  Result<Statement> find = database_.Prepare(
      "SELECT first_id, body FROM events WHERE run = ? AND kind = ? "
      "ORDER BY first_id DESC");
  if (!find) return Error{find.error()};
  find->Bind(1, run).Bind(2, static_cast<int64_t>(EventKind::kCheckpoint));
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return uint64_t{0};
    std::string plain;
    StampedEvent stamped;
    if (!decompressor_.Decompress(find->Blob(1), &plain)) continue;
    if (!BlobReader(plain).Next(&stamped)) continue;
    const auto* state = std::get_if<RunCheckpoint>(&stamped.event.body);
    if (state != nullptr && state->engine_version == engine_version) {
      return static_cast<uint64_t>(find->Int(0));
    }
  }
}

Result<std::vector<RunRow>> SqliteReader::Runs() {
  Result<Statement> find = database_.Prepare(
      "SELECT run, run_id, attempt, opened_us, ended_us, end_reason, "
      "max(last_step, coalesce((SELECT e.last_step FROM events e WHERE "
      "e.run = runs.run AND e.kind = 5 AND e.rank = 0 ORDER BY e.place DESC "
      "LIMIT 1), last_step)) FROM runs ORDER BY run");
  if (!find) return Error{find.error()};
  std::vector<RunRow> rows;
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return rows;
    RunRow& row = rows.emplace_back();
    row.key = {std::string(find->Text(1)), static_cast<int32_t>(find->Int(2))};
    row.opened = FromMicros(find->Int(3));
    if (!find->IsNull(4)) row.ended = FromMicros(find->Int(4));
    row.end_reason = find->Text(5);
    row.last_step = find->Int(6);
    if (Status s = Describe(find->Int(0), &row); !s) return Error{s.error()};
  }
}

Result<std::vector<RunKey>> SqliteReader::TrimmedRuns() {
  Result<Statement> find = database_.Prepare(
      "SELECT run_id, attempt FROM runs WHERE EXISTS (SELECT 1 FROM events e "
      "WHERE e.run = runs.run AND e.kind = 5 GROUP BY e.rank "
      "HAVING min(e.place) > 0)");
  if (!find) return Error{find.error()};
  std::vector<RunKey> runs;
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return runs;
    runs.push_back(
        {std::string(find->Text(0)), static_cast<int32_t>(find->Int(1))});
  }
}

Status SqliteReader::Describe(int64_t run, RunRow* row) {
  Result<Statement> find = database_.Prepare(
      "SELECT body FROM events WHERE run = ? AND kind = ? LIMIT 1");
  if (!find) return Error{find.error()};
  find->Bind(1, run).Bind(2, static_cast<int64_t>(EventKind::kRunOpened));
  const Result<bool> found = find->Next();
  if (!found) return Error{found.error()};
  std::string plain;
  StampedEvent stamped;
  if (!*found || !decompressor_.Decompress(find->Blob(0), &plain) ||
      !BlobReader(plain).Next(&stamped)) {
    return OkStatus();
  }
  if (auto* opened = std::get_if<RunOpened>(&stamped.event.body)) {
    row->description = std::move(opened->description);
  }
  return OkStatus();
}

Result<std::vector<StepBucket>> SqliteReader::Steps(const StepQuery& query) {
  const Result<int64_t> run = RowOf(query.run);
  if (!run) return Error{run.error()};
  PictureReader picture(database_, *run, query.rank, query.from, query.to);
  Result<std::vector<StepBucket>> buckets = picture.Draw(query.points);
  damaged_ += picture.damaged();
  return buckets;
}

Result<OpRows> SqliteReader::Ops(const OpQuery& query) {
  const Result<int64_t> run = RowOf(query.run);
  if (!run) return Error{run.error()};
  return ReadOpRows(database_, *run, query, &damaged_);
}

Result<std::vector<std::pair<RunKey, Incident>>> SqliteReader::Sent() {
  Result<Statement> find = database_.Prepare(
      "SELECT run_id, attempt, body FROM incidents_sent JOIN runs USING (run) "
      "ORDER BY run, incident");
  if (!find) return Error{find.error()};
  std::vector<std::pair<RunKey, Incident>> sent;
  std::string plain;
  while (true) {
    const Result<bool> found = find->Next();
    if (!found) return Error{found.error()};
    if (!*found) return sent;
    RunKey key{std::string(find->Text(0)), static_cast<int32_t>(find->Int(1))};
    if (!decompressor_.Decompress(find->Blob(2), &plain)) continue;
    Result<Incident> incident = DecodeIncident(plain);
    if (incident) sent.emplace_back(std::move(key), std::move(*incident));
  }
}

constexpr char kAnything[] = "SELECT count(*) FROM sqlite_schema";

// Beside a writer, or, where nothing can be made beside the file (it may not be
// written, or the disk is full), as it is; then `*missing` says that its log
// was left out.
Result<Database> OpenForReading(const std::string& path, std::string* missing) {
  Result<Database> database = Database::Open(path, Database::Mode::kRead, "");
  if (!database || database->Number(kAnything)) return database;
  const Database::Failure failure = database->failure();
  if (failure == Database::Failure::kReadOnly ||
      failure == Database::Failure::kInputOutput) {
    if (FileBytes(path + "-wal") != 0) {
      *missing = "The newest events are missing: " + path +
                 "-wal can only be read where nanwatch may write beside it. ";
    }
    database = Database::Open(path, Database::Mode::kImmutable, "");
    if (!database || database->Number(kAnything)) return database;
  }
  if (database->failure() == Database::Failure::kDamaged) {
    database->TolerateCut();
    if (database->Number(kAnything)) return database;
  }
  return database->LastError();
}

}  // namespace

Result<std::unique_ptr<HistoryReader>> HistoryReader::Open(
    const std::string& path) {
  if (!FileExists(path)) return Error{"there is no history file " + path};
  if (!IsFile(path)) return Error{path + " is a pipe, a folder or a device"};
  const bool has_log = FileBytes(path + "-wal") != 0;
  std::string missing;
  Result<Database> database = OpenForReading(path, &missing);
  if (!database) return Error{database.error()};
  const Result<SchemaVerdict> verdict = CheckSchema(*database);
  if (!verdict) return Error{verdict.error()};
  switch (*verdict) {
    case SchemaVerdict::kOurs:
      break;
    case SchemaVerdict::kNewer:
      return Error{path + std::string(kOfANewerNanwatch)};
    case SchemaVerdict::kEmpty:
      return Error{path +
                   " holds nothing: if it is a copy of a history, copy " +
                   path + "-wal, too"};
    case SchemaVerdict::kForeign:
      return Error{path + " is not a nanwatch history"};
  }
  (void)database->Execute("PRAGMA cache_size = -2048");
  missing += MissingInGaps(*database);
  // Opening it may have made an empty log.
  if (const Result<bool> open = SaysOpen(*database);
      !has_log && open && *open) {
    missing += MissingLog(path);
  }
  return std::unique_ptr<HistoryReader>(
      std::make_unique<SqliteReader>(std::move(*database), std::move(missing)));
}

}  // namespace nanwatch
