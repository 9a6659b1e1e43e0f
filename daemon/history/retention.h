// Retention: what is too old, or too much, goes, oldest first, in short rounds.
//
// A live run keeps what a restart needs: an event of it goes only when a
// checkpoint of this process that came after it is committed; until then the
// run is named by RunCatalog::NeedCheckpoint. The small events that say what a
// run is stay until the run itself goes.

#ifndef NANWATCH_HISTORY_RETENTION_H_
#define NANWATCH_HISTORY_RETENTION_H_

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "history/database.h"
#include "history/run_catalog.h"

namespace nanwatch {

class Retention {
 public:
  // `catalog` must outlive this. 0: no limit.
  Retention(RunCatalog& catalog, Duration keep_for, uint64_t keep_bytes)
      : catalog_(catalog), keep_for_(keep_for), keep_bytes_(keep_bytes) {}

  // One round, in one transaction, a few milliseconds. Returns how many events
  // went.
  Result<uint64_t> Round(Time now, Database& database);
  // True when the last round found more to do.
  bool behind() const { return behind_; }
  // Another file: begin at its start.
  void Forget() { cursor_ = 0; }

 private:
  struct Row {
    int64_t first_id = 0;
    int64_t last_id = 0;
    int64_t count = 0;
    int64_t kind = 0;
    int64_t run = 0;
    int64_t last_us = 0;
    int64_t bytes = 0;
  };

  // Sets over_ and cutoff_us_.
  Status Measure(Time now, Database& database);
  Status RemoveAll(Database& database, uint64_t* removed);
  // From cursor_ on; `*finished`: came to what is to be kept, or the end.
  Status RemoveEvents(Database& database, uint64_t* removed, bool* finished);
  bool MayGo(const Row& row);
  Status RemoveRuns(Database& database, uint64_t* removed);
  Status RemoveRun(int64_t run, Database& database, uint64_t* removed);
  Status RemoveRules(Database& database, uint64_t* removed);
  Status RemovePictures(Database& database, bool desperate);
  Status SaveRemoved(Database& database);

  RunCatalog& catalog_;
  const Duration keep_for_;
  const uint64_t keep_bytes_;
  int64_t cursor_ = 0;           // rows up to here were looked at this sweep
  int64_t removed_through_ = 0;  // newest id that went in this round
  int64_t cutoff_us_ = INT64_MIN;
  uint64_t over_ = 0;  // bytes above keep_bytes
  bool behind_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_RETENTION_H_
