#include "history/history_file.h"

#include <algorithm>
#include <utility>

#include "history/opening.h"

namespace nanwatch {

namespace {

constexpr Duration kRetryInterval = std::chrono::minutes(1);

}  // namespace

HistoryFile::HistoryFile(const HistoryOptions& options)
    : options_(options),
      retention_(catalog_, options.keep_for, options.keep_bytes),
      throttle_(kRetryInterval) {}

Status HistoryFile::Open(Time now, OpenReport* report) {
  Result<std::optional<FileLock>> lock =
      FileLock::Take(options_.path + ".lock");
  if (!lock) return Error{lock.error()};
  lock_ = std::move(*lock);
  Result<std::optional<Database>> opened = OpenFile(options_, now, report);
  if (!opened) return Error{opened.error()};
  last_try_ = now;
  if (!opened->has_value()) {
    gap_reason_ = report->message;
    // Ids go on where the file ends, so that it can be taken up again.
    Result<Database> readable =
        Database::Open(options_.path, Database::Mode::kRead, options_.vfs);
    if (readable) {
      const Result<uint64_t> newest = NewestId(*readable);
      if (newest) newest_id_ = *newest;
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

Status HistoryFile::Begin(Database database) {
  const Result<uint64_t> newest = NewestId(database);
  if (!newest) return Error{newest.error()};
  if (gap_first_ != 0 && *newest >= gap_first_) {
    return Error{options_.path +
                 " holds events that this process does not "
                 "know of: restart nanwatchd to go on with them"};
  }
  newest_id_ = std::max(newest_id_, *newest);
  if (Status s = catalog_.Load(database); !s) return s;
  retention_.Forget();
  database_ = std::move(database);
  writer_ = std::make_unique<EventWriter>(*database_, catalog_);
  return OkStatus();
}

void HistoryFile::Commit(Time now, std::span<const WriteItem> items,
                         std::span<const SentIncident> sent) {
  if (!items.empty()) newest_id_ = items.back().id;
  if (degraded()) return Lose(items);
  const Status written = writer_->Write(items, sent);
  if (written) {
    stats_.events += items.size();
    stats_.bytes = writer_bytes_ + writer_->bytes();
    ++stats_.commits;
    return;
  }
  ++stats_.failures;
  const Database::Failure failure = database_->failure();
  Degrade(now, written.error());
  Lose(items);
  if (failure == Database::Failure::kDamaged ||
      failure == Database::Failure::kForeign) {
    Replace(now);
  }
}

void HistoryFile::Degrade(Time now, const std::string& why) {
  writer_bytes_ = stats_.bytes;
  writer_.reset();
  database_.reset();
  need_changed_ = true;
  last_try_ = now;
  gap_reason_ = why;
  LogError("history is off: it cannot be written; tried again every minute",
           "error=\"" + why + "\"");
}

// Runs that open or end meanwhile are still followed, so that the file knows
// them when it comes back.
void HistoryFile::Lose(std::span<const WriteItem> items) {
  if (items.empty()) return;
  if (gap_first_ == 0) gap_first_ = items.front().id;
  gap_last_ = items.back().id;
  stats_.lost_events += items.size();
  for (const WriteItem& item : items) {
    if (item.event->run.run_id.empty()) continue;
    const Result<CatalogRun*> run =
        catalog_.Find(item.event->run, item.now, nullptr);
    catalog_.Note(*item.event, item.id, item.now, 0, *run);
  }
}

void HistoryFile::Recover(Time now) {
  if (now - last_try_ < kRetryInterval) return;
  Replace(now);
}

void HistoryFile::Replace(Time now) {
  last_try_ = now;
  OpenReport report;
  Result<std::optional<Database>> opened = OpenFile(options_, now, &report);
  if (!opened || !opened->has_value()) {
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
  if (!begun) catalog_ = std::move(known);
  if (begun) begun = catalog_.Adopt(std::move(known), *database_);
  if (begun && gap_first_ != 0) {
    begun = writer_->WriteGap(gap_first_, gap_last_, gap_reason_);
  }
  if (begun) begun = writer_->SaveCatalog(now);
  if (!begun) return Degrade(now, begun.error());
  if (!report.set_aside.empty()) LogError("history", report.message);
  LogWarning("history is on again",
             "lost_events=" + std::to_string(stats_.lost_events));
  gap_first_ = gap_last_ = 0;
}

void HistoryFile::Upkeep(Time now) {
  if (degraded()) return Recover(now);
  const Result<uint64_t> removed = retention_.Round(now, *database_);
  if (removed) {
    stats_.removed_events += *removed;
  } else {
    ++stats_.failures;
    Degrade(now, removed.error());
  }
}

void HistoryFile::Finish(Time now) {
  if (degraded()) return;
  if (const Status saved = writer_->SaveCatalog(now); !saved) {
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
