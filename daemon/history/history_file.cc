#include "history/history_file.h"

#include <algorithm>
#include <utility>

#include "history/log_check.h"
#include "history/opening.h"
#include "history/schema.h"

namespace nanwatch {

namespace {

// A disk that is full for a moment costs a second of history.
constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::minutes(1);
constexpr size_t kGapsKept = 64;
// An id that no history comes to by counting: 35 years of a million events a
// second. In JSON it is a number still (2^53).
constexpr uint64_t kBeyondAll = 1ull << 50;

}  // namespace

HistoryFile::HistoryFile(const HistoryOptions& options)
    : options_(options),
      retention_(catalog_, options.keep_for, options.keep_bytes),
      throttle_(kLastRetry),
      backoff_(kFirstRetry, kLastRetry) {}

Status HistoryFile::Open(Time now, OpenReport* report) {
  Result<std::optional<FileLock>> lock =
      FileLock::Take(options_.path + ".lock");
  if (!lock) return Error{lock.error()};
  lock_ = std::move(*lock);
  const bool had_log = FileBytes(options_.path + "-wal") != 0;
  Result<std::optional<Database>> opened = OpenFile(options_, now, report);
  Count(*report);
  if (!opened) return Error{opened.error()};
  if (opened->has_value() && !had_log) {
    const Result<bool> open = SaysOpen(**opened);
    if (open && *open) report->message += MissingLog(options_.path);
  }
  next_try_ = now + backoff_.Next(UINT64_MAX);
  if (!opened->has_value()) {
    gap_reason_ = report->message;
    // Ids go on where the file ends, so that it can be taken up again.
    for (const auto mode :
         {Database::Mode::kRead, Database::Mode::kImmutable}) {
      // On a disk that cannot be written not even a reader may put its index
      // beside the file; nobody else writes it, so it is read as it lies.
      Result<Database> readable =
          Database::Open(options_.path, mode, options_.vfs);
      if (!readable) continue;
      const Result<uint64_t> newest = NewestId(*readable);
      if (!newest) continue;
      newest_id_ = *newest;
      return OkStatus();
    }
    // Nobody knows where the file ends: beyond all that it can hold, so that it
    // can be taken up all the same.
    if (FileBytes(options_.path) != 0) {
      newest_id_ = std::max<uint64_t>(kBeyondAll, ToMicros(now));
    }
    return OkStatus();
  }
  if (Status begun = Begin(std::move(**opened)); !begun) {
    report->degraded = true;
    report->message = begun.error() + ": history is off until this is mended";
    database_.reset();
  }
  return OkStatus();
}

void HistoryFile::Count(const OpenReport& report) {
  stats_.lost_events += report.lost_events;
  if (report.unusable) ++stats_.set_aside[static_cast<int>(*report.unusable)];
}

Status HistoryFile::Begin(Database database) {
  const Result<uint64_t> newest = NewestId(database);
  if (!newest) return Error{newest.error()};
  const bool reopened = watch_.has_value() || gap_first_ != 0;
  if ((gap_first_ != 0 && *newest >= gap_first_) ||
      (reopened && *newest > newest_id_)) {
    return Error{options_.path +
                 " holds events that this process does not "
                 "know of: restart nanwatchd to go on with them"};
  }
  newest_id_ = std::max(newest_id_, *newest);
  if (Status s = catalog_.Load(database); !s) return s;
  if (Status s = MarkOpen(database, true); !s) return s;
  watch_.emplace(options_.path);
  retention_.Forget();
  database_ = std::move(database);
  writer_ = std::make_unique<EventWriter>(*database_, catalog_);
  return OkStatus();
}

void HistoryFile::Commit(Time now, std::span<const WriteItem> items,
                         std::span<const SentIncident> sent) {
  CheckName(now);
  if (!items.empty()) newest_id_ = items.back().id;
  if (degraded()) return Lose(items);
  const Status written = writer_->Write(items, sent);
  if (written) {
    stats_.events += items.size();
    stats_.bytes = writer_bytes_ + writer_->bytes();
    ++stats_.commits;
    (void)watch_->Look();  // takes down how far it grew
    return;
  }
  const bool damaged = database_->IsDamaged();
  Degrade(now, written.error());
  Lose(items);
  if (damaged) Replace(now);
}

void HistoryFile::CheckName(Time now) {
  if (degraded()) return;
  const std::string what = watch_->Look();
  if (what.empty()) return;
  // A log without a name is still ours to read: into the database with it.
  if (watch_->LogWasRemoved()) {
    (void)database_->Execute("PRAGMA wal_checkpoint(PASSIVE)");
  }
  const std::string gone = FileBytes(options_.path) > 0 ? "" : CountGone();
  database_->LeaveFilesAlone();
  Degrade(now, what + gone);
  Replace(now);
}

std::string HistoryFile::CountGone() {
  const Result<int64_t> events =
      database_->Number("SELECT coalesce(sum(count), 0) FROM events");
  const Result<int64_t> runs = database_->Number("SELECT count(*) FROM runs");
  if (events && runs) {
    stats_.lost_events += *events;
    return ", and " + std::to_string(*events) + " events of " +
           std::to_string(*runs) + " runs with it";
  }
  // Not even the open file has them any more.
  stats_.lost_events += stats_.events;
  return ", and at least the " + std::to_string(stats_.events) +
         " events that this process wrote with it";
}

void HistoryFile::Degrade(Time now, const std::string& why) {
  const bool was_on = database_.has_value();
  ++stats_.failures;
  writer_bytes_ = stats_.bytes;
  writer_.reset();
  database_.reset();
  need_changed_ = true;
  // One that fails again and again is not tried every second.
  if (was_on && now - on_since_ >= kLastRetry) backoff_.Reset();
  next_try_ = now + backoff_.Next(UINT64_MAX);
  gap_reason_ = why;
  int64_t suppressed = 0;
  if (!was_on && !throttle_.Allow(now, &suppressed)) return;
  LogError("history is off: it cannot be written; tried again within a minute",
           "error=\"" + why + "\"");
}

// Runs that open or end meanwhile are still followed, so that the file knows
// them when it comes back: without its end a run would be waited for after a
// restart, and said to have broken off.
void HistoryFile::Lose(std::span<const WriteItem> items) {
  if (items.empty()) return;
  if (gap_first_ == 0) gap_first_ = items.front().id;
  gap_last_ = items.back().id;
  if (!gaps_.empty() && gaps_.back().second + 1 == items.front().id) {
    gaps_.back().second = gap_last_;
  } else {
    if (gaps_.size() == kGapsKept) gaps_.erase(gaps_.begin());
    gaps_.emplace_back(items.front().id, gap_last_);
  }
  stats_.lost_events += items.size();
  for (const WriteItem& item : items) {
    if (item.event->run.run_id.empty()) {
      lost_common_[KindOf(*item.event)] = {item.id, item.now, *item.event};
      continue;
    }
    const Result<CatalogRun*> run =
        catalog_.Find(item.event->run, item.now, nullptr);
    catalog_.Lose(*item.event, item.id, item.now, *run);
  }
}

Status HistoryFile::WriteAfterGap(Time now) {
  std::vector<const StampedEvent*> lost = catalog_.Lost();
  for (const auto& [kind, event] : lost_common_) lost.push_back(&event);
  std::sort(lost.begin(), lost.end(),
            [](const auto* a, const auto* b) { return a->id < b->id; });
  // Writing them changes what the catalog knows.
  std::vector<StampedEvent> events;
  for (const StampedEvent* event : lost) events.push_back(*event);
  std::vector<WriteItem> items;
  for (const StampedEvent& stamped : events) {
    items.push_back({stamped.id, stamped.now, &stamped.event});
  }
  EventGap gap{gap_first_, gap_last_, gap_reason_};
  const std::string steps = catalog_.LostSteps();
  if (!steps.empty()) gap.reason += ": " + steps;
  if (Status s = writer_->WriteAfterGap(gap, items, now); !s) return s;
  if (!steps.empty()) LogWarning("history will never hold", steps);
  catalog_.ForgetLost();
  lost_common_.clear();
  return OkStatus();
}

void HistoryFile::Replace(Time now) {
  OpenReport report;
  Result<std::optional<Database>> opened = OpenFile(options_, now, &report);
  Count(report);
  if (!opened || !opened->has_value()) {
    next_try_ = now + backoff_.Next(UINT64_MAX);
    int64_t suppressed = 0;
    if (throttle_.Allow(now, &suppressed)) {
      LogWarning(
          "history is still off",
          "error=\"" + (opened ? report.message : opened.error()) + "\"");
    }
    return;
  }
  // What is known of live runs is newer than the file.
  RunCatalog known = std::move(catalog_);
  Status begun = Begin(std::move(**opened));
  if (begun) {
    begun = catalog_.Adopt(std::move(known), *database_);
  } else {
    catalog_ = std::move(known);
  }
  if (begun) {
    begun = gap_first_ != 0 ? WriteAfterGap(now) : writer_->SaveCatalog(now);
  }
  if (!begun) return Degrade(now, begun.error());
  on_since_ = now;
  if (!report.message.empty()) LogError("history", report.message);
  LogWarning("history is on again",
             "lost_events=" + std::to_string(stats_.lost_events));
  gap_first_ = gap_last_ = 0;
}

void HistoryFile::Upkeep(Time now) {
  if (degraded()) {
    if (now >= next_try_) Replace(now);
    return;
  }
  CheckName(now);
  if (degraded()) return;
  catalog_.ForgetEnded(now);
  const Result<uint64_t> removed = retention_.Round(now, *database_);
  if (removed) {
    stats_.removed_events += *removed;
    return;
  }
  const bool damaged = database_->IsDamaged();
  Degrade(now, removed.error());
  if (damaged) Replace(now);
}

void HistoryFile::Finish(Time now) {
  CheckName(now);
  if (degraded()) return;
  Status saved = writer_->SaveCatalog(now);
  if (saved) saved = MarkOpen(*database_, false);
  if (!saved) {
    LogWarning("history: the last steps of runs were not saved",
               "error=\"" + saved.error() + "\"");
  }
}

HistoryStats HistoryFile::stats() const {
  HistoryStats stats = stats_;
  stats.degraded = degraded();
  stats.file_bytes =
      FileBytes(options_.path) + FileBytes(options_.path + "-wal");
  return stats;
}

}  // namespace nanwatch
