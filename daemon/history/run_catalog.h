// RunCatalog: the runs that are not closed, as the history thread knows them:
// their row in the file, and what retention and restart need to know of each.

#ifndef NANWATCH_HISTORY_RUN_CATALOG_H_
#define NANWATCH_HISTORY_RUN_CATALOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "history/database.h"
#include "model/event.h"

namespace nanwatch {

struct CatalogRun {
  const RunKey* key = nullptr;  // as in the catalog
  int64_t row = 0;
  bool fresh = false;  // begun by this process: the file has nothing before
  Time opened{};
  int64_t last_step = 0;
  std::optional<Time> ended;
  std::string end_reason;
  // Id of the newest that this process wrote; 0: none. Only that one is sure
  // to be usable by this process' successor.
  uint64_t checkpoint = 0;
  uint64_t checkpoint_bytes = 0;  // its size, compressed or not
  uint64_t bytes_since = 0;       // of events after it
  uint64_t ranks_since = 0;       // that opened after it
  bool must_checkpoint = false;   // retention waits, or the file is new
  // Events of it were applied and never stored, and no checkpoint since says
  // what they did: then it needs one, though it has ended.
  bool lacks = false;
  // Of those events, for the file when it comes back: the first opening, the
  // last end, and how many step records.
  std::optional<StampedEvent> lost_opening;
  std::optional<StampedEvent> lost_end;
  uint64_t lost_records = 0;
  int64_t lost_from = 0;  // steps, both ends included
  int64_t lost_to = 0;
  // What the table `runs` does not say yet.
  bool unsaved = true;
  bool touched = false;  // since the last commit
  Time saved{};
  int64_t saved_step = 0;
};

class RunCatalog {
 public:
  // The row of `run`, a new one if nobody knows it. `database` null: degraded.
  // Any event of a run may be its first here: what was before may be lost.
  Result<CatalogRun*> Find(const RunKey& run, Time now, Database* database);

  // Takes in what `event` says of its run. `bytes` is its stored size.
  void Note(const Event& event, uint64_t id, Time now, uint64_t bytes,
            CatalogRun* run);

  // `event` was applied and will never be stored. Instead of Note.
  void Lose(const Event& event, uint64_t id, Time now, CatalogRun* run);
  // The openings and ends among those events, by run: of runs that have ended
  // by now the end, of all the opening. Without them a restart would wait for
  // runs that are over. Good until the next call of another function.
  std::vector<const StampedEvent*> Lost() const;
  // Which step records are among them, in words; empty: none.
  std::string LostSteps() const;
  // What Lost and LostSteps say is in the file.
  void ForgetLost();
  // Of runs that ended while events were lost: the engine no longer holds
  // those, so that no checkpoint will come.
  void ForgetEnded(Time now);

  // Writes the rows of runs that were touched: new and ended ones at once,
  // those whose last step alone changed every 10 s. In a transaction of the
  // caller's.
  Status Save(Time now, Database& database);
  // Every row that differs from the file.
  Status SaveAll(Time now, Database& database);
  // After the commit: forgets ended runs that need nothing more, and what was
  // touched.
  void Committed();

  // Everything from the file; what is known is forgotten.
  Status Load(Database& database);
  // The file came back without what happened meanwhile: takes over the runs
  // that `known` has. All are to be written again; live ones need a checkpoint.
  // After Load.
  Status Adopt(RunCatalog known, Database& database);

  std::vector<RunKey> NeedCheckpoint() const;
  // True once after NeedCheckpoint may have changed.
  bool TakeNeedChanged() { return std::exchange(need_changed_, false); }
  // Live runs, and those that ended and need a checkpoint, by row.
  const CatalogRun* FindRow(int64_t row) const;
  void RequireCheckpoint(int64_t row);

 private:
  void Touch(CatalogRun* run);
  void Drop(CatalogRun* run);
  static bool Needs(const CatalogRun& run);
  static Status SaveRow(Time now, Database& database,
                        std::optional<Statement>* save, CatalogRun* run);

  // Pointers into it stay valid: nodes do not move.
  std::map<RunKey, CatalogRun> runs_;
  std::map<int64_t, CatalogRun*> by_row_;
  std::vector<CatalogRun*> touched_;
  bool need_changed_ = false;
  bool holds_ended_ = false;  // some that ended and need a checkpoint
  int64_t last_row_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_RUN_CATALOG_H_
