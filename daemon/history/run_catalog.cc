#include "history/run_catalog.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "history/schema.h"
#include "model/engine_options.h"

namespace nanwatch {

namespace {

constexpr Duration kSaveInterval = std::chrono::seconds(10);
// A restart replays what came after the checkpoint: bounded to this, or to 16
// times the checkpoint, so that checkpoints are at most 1/16 of what is kept.
constexpr uint64_t kReplayBytes = 4 << 20;
// What the next one takes for a rank that the last one has not, at least: see
// limits::kRanks. Else a job of 10,000 ranks would be written as a whole, 200
// MB, while they still open.
constexpr uint64_t kRankBytes = 8 << 10;
// Of so many runs a gap says which steps it swallowed.
constexpr size_t kRunsNamed = 16;

constexpr char kSaveRun[] =
    "INSERT INTO runs (run, run_id, attempt, opened_us, ended_us, end_reason, "
    "last_step) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE SET "
    "ended_us = excluded.ended_us, end_reason = excluded.end_reason, "
    "last_step = excluded.last_step";

int64_t NewestStep(const Event& event, int64_t otherwise) {
  const auto* steps = std::get_if<StepBatch>(&event.body);
  if (steps == nullptr || steps->columns.step.empty()) return otherwise;
  return steps->columns.step.back();
}

}  // namespace

Result<CatalogRun*> RunCatalog::Find(const RunKey& key, Time now,
                                     Database* database) {
  const auto known = runs_.find(key);
  if (known != runs_.end()) return &known->second;
  CatalogRun run;
  run.opened = now;
  if (database != nullptr) {
    // A closed run may still get an annotation.
    Result<Statement> find = database->Prepare(
        "SELECT run, opened_us, last_step, ended_us, end_reason FROM runs "
        "WHERE run_id = ? AND attempt = ?");
    if (!find) return Error{find.error()};
    find->Bind(1, key.run_id).Bind(2, int64_t{key.attempt});
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (*row) {
      run.row = find->Int(0);
      run.opened = FromMicros(find->Int(1));
      run.last_step = run.saved_step = find->Int(2);
      if (!find->IsNull(3)) run.ended = FromMicros(find->Int(3));
      run.end_reason = find->Text(4);
      run.unsaved = false;
    }
  }
  if (run.row == 0) {
    run.row = ++last_row_;
    run.fresh = true;
  }
  const auto [at, added] = runs_.emplace(key, std::move(run));
  CHECK(added);
  at->second.key = &at->first;
  by_row_[at->second.row] = &at->second;
  Touch(&at->second);
  return &at->second;
}

void RunCatalog::Touch(CatalogRun* run) {
  if (std::exchange(run->touched, true)) return;
  touched_.push_back(run);
}

bool RunCatalog::Needs(const CatalogRun& run) {
  if (run.ended) return run.lacks;
  const uint64_t next = run.checkpoint_bytes + run.ranks_since * kRankBytes;
  return run.must_checkpoint ||
         run.bytes_since > std::max(kReplayBytes, 16 * next);
}

void RunCatalog::Note(const Event& event, uint64_t id, Time now, uint64_t bytes,
                      CatalogRun* run) {
  Touch(run);
  const bool needed = Needs(*run);
  run->last_step = std::max(run->last_step, NewestStep(event, INT64_MIN));
  run->bytes_since += bytes;
  switch (KindOf(event)) {
    case EventKind::kRunOpened:
      if (!run->ended) run->opened = now;
      // A rank that comes late finds the others closed: the run goes on.
      run->ended.reset();
      run->end_reason.clear();
      run->unsaved = true;
      break;
    case EventKind::kRankOpened:
      ++run->ranks_since;
      break;
    case EventKind::kRunClosed:
      run->ended = now;
      run->end_reason = std::get<RunClosed>(event.body).reason;
      run->unsaved = true;
      break;
    case EventKind::kCheckpoint:
      run->checkpoint = id;
      run->checkpoint_bytes = bytes;
      run->bytes_since = run->ranks_since = 0;
      run->must_checkpoint = false;
      run->lacks = false;
      break;
    default:
      break;
  }
  need_changed_ = need_changed_ || needed != Needs(*run);
}

void RunCatalog::Lose(const Event& event, uint64_t id, Time now,
                      CatalogRun* run) {
  Note(event, id, now, 0, run);
  run->lacks = true;
  const EventKind kind = KindOf(event);
  if (kind == EventKind::kRunOpened && !run->lost_opening) {
    run->lost_opening = StampedEvent{id, now, event};
  } else if (kind == EventKind::kRunClosed) {
    run->lost_end = StampedEvent{id, now, event};
  } else if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    const std::vector<int64_t>& step = steps->columns.step;
    if (step.empty()) return;
    const auto [first, last] = std::minmax_element(step.begin(), step.end());
    const bool none = run->lost_records == 0;
    run->lost_from = none ? *first : std::min(run->lost_from, *first);
    run->lost_to = none ? *last : std::max(run->lost_to, *last);
    run->lost_records += step.size();
  }
}

std::vector<const StampedEvent*> RunCatalog::Lost() const {
  std::vector<const StampedEvent*> lost;
  for (const auto& [key, run] : runs_) {
    if (run.lost_opening) lost.push_back(&*run.lost_opening);
    if (run.lost_end && run.ended) lost.push_back(&*run.lost_end);
  }
  return lost;
}

std::string RunCatalog::LostSteps() const {
  std::string said;
  size_t runs = 0;
  for (const auto& [key, run] : runs_) {
    if (run.lost_records == 0 || ++runs > kRunsNamed) continue;
    if (!said.empty()) said += ", ";
    said += std::to_string(run.lost_records) + " step records of " +
            key.run_id + " attempt " + std::to_string(key.attempt) +
            " (steps " + std::to_string(run.lost_from) + " to " +
            std::to_string(run.lost_to) + ")";
  }
  if (runs > kRunsNamed) {
    said +=
        ", and those of " + std::to_string(runs - kRunsNamed) + " other runs";
  }
  return said;
}

void RunCatalog::ForgetLost() {
  for (auto& [key, run] : runs_) {
    run.lost_opening.reset();
    run.lost_end.reset();
    run.lost_records = 0;
  }
}

void RunCatalog::ForgetEnded(Time now) {
  if (!std::exchange(holds_ended_, false)) return;
  const Time before = now - EngineOptions{}.ended_run_leaves_after;
  for (auto at = runs_.begin(); at != runs_.end();) {
    CatalogRun& run = at++->second;
    if (!run.ended) continue;
    if (run.touched || *run.ended > before) {
      holds_ended_ = true;
    } else {
      Drop(&run);
      need_changed_ = true;
    }
  }
}

Status RunCatalog::Save(Time now, Database& database) {
  std::optional<Statement> save;
  for (CatalogRun* run : touched_) {
    const bool due = now - run->saved >= kSaveInterval;
    if (!run->unsaved && !due) continue;
    if (Status s = SaveRow(now, database, &save, run); !s) return s;
  }
  return OkStatus();
}

Status RunCatalog::SaveAll(Time now, Database& database) {
  std::optional<Statement> save;
  for (auto& [key, run] : runs_) {
    if (!run.unsaved && run.last_step == run.saved_step) continue;
    if (Status s = SaveRow(now, database, &save, &run); !s) return s;
  }
  return OkStatus();
}

Status RunCatalog::SaveRow(Time now, Database& database,
                           std::optional<Statement>* save, CatalogRun* run) {
  if (!*save) {
    Result<Statement> prepared = database.Prepare(kSaveRun);
    if (!prepared) return Error{prepared.error()};
    *save = std::move(*prepared);
  }
  Statement& row = **save;
  row.Bind(1, run->row).Bind(2, run->key->run_id);
  row.Bind(3, int64_t{run->key->attempt}).Bind(4, ToMicros(run->opened));
  if (run->ended) {
    row.Bind(5, ToMicros(*run->ended));
  } else {
    row.BindNull(5);
  }
  row.Bind(6, run->end_reason).Bind(7, run->last_step);
  if (Status saved = row.Run(); !saved) return saved;
  run->unsaved = false;
  run->saved = now;
  run->saved_step = run->last_step;
  return OkStatus();
}

void RunCatalog::Committed() {
  for (CatalogRun* run : touched_) {
    run->touched = false;
    if (!run->ended || run->unsaved) continue;
    if (run->lacks) {
      holds_ended_ = true;
    } else {
      Drop(run);
    }
  }
  touched_.clear();
}

void RunCatalog::Drop(CatalogRun* run) {
  by_row_.erase(run->row);
  runs_.erase(runs_.find(*run->key));
}

Status RunCatalog::Load(Database& database) {
  runs_.clear();
  by_row_.clear();
  touched_.clear();
  need_changed_ = true;
  const Result<int64_t> last = database.Number(
      "SELECT max(coalesce((SELECT max(run) FROM runs), 0), "
      "coalesce((SELECT max(run) FROM events), 0))");
  if (!last) return Error{last.error()};
  last_row_ = *last;
  Result<Statement> find = database.Prepare(
      "SELECT run, run_id, attempt, opened_us, last_step FROM runs "
      "WHERE ended_us IS NULL");
  if (!find) return Error{find.error()};
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    CatalogRun run;
    run.row = find->Int(0);
    run.opened = FromMicros(find->Int(3));
    run.last_step = find->Int(4);
    run.saved_step = run.last_step;
    run.unsaved = false;
    // Whether the engine can use the checkpoint in the file is not for us to
    // know; a fresh one settles it, and makes the next start quick.
    run.must_checkpoint = true;
    RunKey key{std::string(find->Text(1)), static_cast<int32_t>(find->Int(2))};
    const auto at = runs_.emplace(std::move(key), std::move(run)).first;
    at->second.key = &at->first;
    by_row_[at->second.row] = &at->second;
  }
}

Status RunCatalog::Adopt(RunCatalog known, Database& database) {
  for (auto& [key, run] : known.runs_) {
    Result<CatalogRun*> found = Find(key, run.opened, &database);
    if (!found) return Error{found.error()};
    CatalogRun& mine = **found;
    mine.opened = run.opened;
    mine.last_step = std::max(mine.last_step, run.last_step);
    mine.ended = run.ended;
    mine.end_reason = run.end_reason;
    mine.unsaved = true;
    mine.must_checkpoint = true;
    holds_ended_ = holds_ended_ || mine.ended.has_value();
    mine.lacks = run.lacks;
    mine.lost_opening = std::move(run.lost_opening);
    mine.lost_end = std::move(run.lost_end);
    mine.lost_records = run.lost_records;
    mine.lost_from = run.lost_from;
    mine.lost_to = run.lost_to;
    mine.checkpoint = 0;
  }
  return OkStatus();
}

std::vector<RunKey> RunCatalog::NeedCheckpoint() const {
  std::vector<RunKey> need;
  for (const auto& [key, run] : runs_) {
    if (Needs(run)) need.push_back(key);
  }
  return need;
}

const CatalogRun* RunCatalog::FindRow(int64_t row) const {
  const auto found = by_row_.find(row);
  return found == by_row_.end() ? nullptr : found->second;
}

void RunCatalog::RequireCheckpoint(int64_t row) {
  const auto found = by_row_.find(row);
  if (found == by_row_.end()) return;
  found->second->must_checkpoint = true;
  need_changed_ = true;
}

}  // namespace nanwatch
