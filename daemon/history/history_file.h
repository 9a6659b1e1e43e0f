// HistoryFile: the history thread's side of the file: commits, degraded mode
// and the way back, retention. One thread at a time; no queue, no clock.

#ifndef NANWATCH_HISTORY_HISTORY_FILE_H_
#define NANWATCH_HISTORY_HISTORY_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/file.h"
#include "base/log.h"
#include "history/event_writer.h"
#include "history/file_watch.h"
#include "history/history.h"
#include "history/retention.h"
#include "history/run_catalog.h"

namespace nanwatch {

class HistoryFile {
 public:
  explicit HistoryFile(const HistoryOptions& options);

  Status Open(Time now, OpenReport* report);
  uint64_t newest_id() const { return newest_id_; }

  // Commits, or, degraded, counts as lost. Never fails towards the caller: what
  // is to be said is in stats().
  void Commit(Time now, std::span<const WriteItem> items,
              std::span<const SentIncident> sent);
  // A short round of retention; tries to leave degraded mode, after 1 s at
  // first and every minute at last.
  void Upkeep(Time now);
  // True when Upkeep has more to do at once.
  bool behind() const { return !degraded() && retention_.behind(); }
  // The last that is known of every run.
  void Finish(Time now);

  bool degraded() const { return !database_.has_value(); }
  // True once after NeedCheckpoint may have changed.
  bool TakeNeedChanged() {
    return std::exchange(need_changed_, false) || catalog_.TakeNeedChanged();
  }
  std::vector<RunKey> NeedCheckpoint() const {
    return degraded() ? std::vector<RunKey>() : catalog_.NeedCheckpoint();
  }
  // queue_bytes is not filled in.
  HistoryStats stats() const;
  // Ids that were applied and never stored by this process: first and last of
  // each gap, the newest 64.
  using Gaps = std::vector<std::pair<uint64_t, uint64_t>>;
  const Gaps& gaps() const { return gaps_; }

 private:
  Status Begin(Database database);  // a file that was just opened
  void Count(const OpenReport& report);
  void Degrade(Time now, const std::string& why);
  void Lose(std::span<const WriteItem> items);
  // What of the gap can still be said.
  Status WriteAfterGap(Time now);
  // Whatever is under the name now: a file that can be written, or one that
  // takes the place of a damaged one.
  void Replace(Time now);
  // Counts what the file, which was removed or emptied, held; says it as the
  // end of a sentence.
  std::string CountGone();
  // Sees to it that what is written has a name.
  void CheckName(Time now);

  const HistoryOptions options_;
  std::optional<FileLock> lock_;
  RunCatalog catalog_;
  Retention retention_;
  std::optional<Database> database_;  // none: degraded
  std::unique_ptr<EventWriter> writer_;
  LogThrottle throttle_;
  bool need_changed_ = true;
  std::optional<FileWatch> watch_;
  Backoff backoff_;
  Time next_try_{};  // while degraded
  Time on_since_{};  // otherwise
  uint64_t newest_id_ = 0;
  Gaps gaps_;
  // Ids that were applied and not stored since degraded; 0: none.
  uint64_t gap_first_ = 0;
  uint64_t gap_last_ = 0;
  std::string gap_reason_;
  // Of that gap: the last start of a daemon and the last rules.
  std::map<EventKind, StampedEvent> lost_common_;
  HistoryStats stats_;
  uint64_t writer_bytes_ = 0;  // of writers before this one
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_HISTORY_FILE_H_
