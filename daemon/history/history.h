// History: the list of (now, event), kept in one SQLite file. The format and
// its downsides: history/FORMAT.md.
//
// The pipeline thread calls Append; the history thread commits (one transaction
// per 20 ms or 1 MB, synchronous=FULL) and publishes the newest committed id.
// Readers have connections of their own (HistoryReader) and never wait for it.

#ifndef NANWATCH_HISTORY_HISTORY_H_
#define NANWATCH_HISTORY_HISTORY_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/event.h"
#include "model/incident.h"

namespace nanwatch {

struct HistoryOptions {
  std::string path;  // of the database file
  Duration commit_interval = std::chrono::milliseconds(20);
  size_t commit_bytes = 1 << 20;
  // Age and size at which old batches go; 0: never.
  Duration keep_for = std::chrono::hours(24 * 30);
  uint64_t keep_bytes = 8ull << 30;
  // Waiting for commit at most; beyond, Append refuses ("history_queue").
  size_t queue_bytes = 64 << 20;
  // False: no thread; the caller drives RunOnce.
  bool own_thread = true;
  // Name of the SQLite VFS; empty: the system's. Tests bring one that loses
  // what was not synced.
  std::string vfs;
};

// Why a file was set aside. Each name is a label of
// nanwatch_history_set_aside_total.
enum class Unusable { kDamaged, kForeign, kNewer };
inline constexpr int kUnusables = 3;
constexpr std::string_view Name(Unusable why) {
  constexpr std::string_view kNames[] = {"damaged", "foreign", "newer"};
  return kNames[static_cast<int>(why)];
}

// What happened when the file was opened.
struct OpenReport {
  bool created = false;
  // Not empty: the file could not be used, was set aside under this name, and
  // what is gone is said in `message`.
  std::string set_aside;
  std::optional<Unusable> unusable;  // given when it was set aside
  // Of a damaged one: events between those that could be read back. What came
  // behind them nobody can count.
  uint64_t lost_events = 0;
  std::string message;
  // The file cannot be written (read-only, full): history is off until it can.
  bool degraded = false;
};

struct HistoryStats {
  uint64_t events = 0;  // committed
  uint64_t bytes = 0;   // compressed, committed
  uint64_t commits = 0;
  uint64_t failures = 0;     // commits that failed
  uint64_t queue_bytes = 0;  // not yet committed
  uint64_t file_bytes = 0;
  uint64_t removed_events = 0;  // by retention
  // Applied while degraded and never stored, or gone from a damaged file.
  uint64_t lost_events = 0;
  std::array<uint64_t, kUnusables> set_aside{};  // files, by why
  bool degraded = false;
};

class History {
 public:
  // Never refuses to start for what the file holds: a damaged, foreign or newer
  // one is set aside. An error only for a path that cannot be used at all.
  static Result<std::unique_ptr<History>> Open(const HistoryOptions& options,
                                               Clock& clock,
                                               OpenReport* report);
  virtual ~History() = default;

  // Events of one moment, shared with whoever applies them: nothing is copied.
  using SharedEvents = std::shared_ptr<const std::vector<Event>>;

  // Gives each event its id (rising from last_id() + 1), in one transaction all
  // together. False: the queue is full, nothing was taken. Pipeline thread.
  virtual bool Append(Time now, SharedEvents events) = 0;
  // The same, copying.
  bool Append(Time now, std::span<const Event> events) {
    return Append(now, std::make_shared<const std::vector<Event>>(
                           events.begin(), events.end()));
  }
  virtual uint64_t last_id() const = 0;  // pipeline thread

  // The newest id that is on disk. Any thread. While degraded, ids count as
  // committed when applied; Stored() tells them apart.
  virtual uint64_t committed() const = 0;
  // Of an id up to committed(): it was written, not only applied. Remembers the
  // newest 64 gaps. Any thread.
  virtual bool Stored(uint64_t id) const = 0;
  // Called on the history thread after committed() rose. Set before Append.
  virtual void OnCommitted(std::function<void(uint64_t)> callback) = 0;

  // Incidents as last sent, so that a restart sends only the difference.
  // Pipeline thread; kept with the next commit.
  virtual void SaveSent(const RunKey& run, const Incident& incident) = 0;

  // Live runs that should get a fresh checkpoint: retention waits for it, much
  // was kept since the last one, or the file had to be begun anew. A run stays
  // named until its checkpoint is committed. Any thread.
  virtual std::vector<RunKey> NeedCheckpoint() const = 0;

  // One turn of the history thread: waits at most `wait` for something to
  // commit, commits what there is, and does a short round of upkeep (retention,
  // recovery from degraded mode) when one is due. For tests with own_thread
  // off.
  virtual void RunOnce(Duration wait) = 0;

  // Commits what is queued and ends the thread. Bounded: 2 s.
  virtual void Close() = 0;
  virtual HistoryStats stats() const = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_HISTORY_H_
