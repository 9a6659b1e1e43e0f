// PictureWriter: builds the pictures of every rank that sends steps. What is
// not yet a full row waits in memory (a few KB a rank) and is built again from
// the finer level after a restart.

#ifndef NANWATCH_HISTORY_PICTURE_WRITER_H_
#define NANWATCH_HISTORY_PICTURE_WRITER_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "history/database.h"
#include "history/event_blob.h"
#include "history/picture.h"

namespace nanwatch {

class PictureWriter {
 public:
  // In a transaction of the caller's. `*place` is the ordinal of the batch's
  // first record. `fresh`: the file has nothing of this run that was not given
  // to this object.
  Status Add(int64_t run, int32_t rank, bool fresh, const StepColumns& columns,
             Database& database, uint64_t* place);
  // The run has ended: what waits is written, and forgotten.
  Status Close(int64_t run, Database& database);

 private:
  struct Level {
    PlacedBucket open;
    std::vector<PlacedBucket> full;  // of this level, not yet in a row
  };
  struct Rank {
    uint64_t place = 0;                // ordinal of the next record
    std::array<Level, kLevels> level;  // [0] is level 1
  };
  using RankKey = std::pair<int64_t, int32_t>;

  Status Load(const RankKey& key, Database& database, Rank* rank);
  Status LoadRows(const RankKey& key, int level, uint64_t from,
                  Database& database, std::vector<PlacedBucket>* buckets);
  Status LoadRecords(const RankKey& key, uint64_t from, Database& database,
                     Rank* rank);
  static void Take(const StepColumns& columns, size_t begin, Rank* rank);
  // A bucket of `level` is full: into the next coarser level.
  static void Promote(const PlacedBucket& bucket, int level, Rank* rank);
  Status WriteRows(const RankKey& key, bool all, Database& database,
                   Rank* rank);

  std::map<RankKey, Rank> ranks_;
  std::optional<Statement> insert_;
  Compressor compressor_;
  Decompressor decompressor_;
  std::string plain_;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_PICTURE_WRITER_H_
