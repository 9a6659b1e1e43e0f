// PictureReader: draws the steps of one rank from the pictures, exact at the
// edges.
//
// Goes from the coarsest level down. A bucket of the chosen level or finer that
// lies inside the range is taken whole; one that crosses an edge, and what a
// level does not cover (yet), is taken from the level below; the last is the
// records themselves.

#ifndef NANWATCH_HISTORY_PICTURE_READER_H_
#define NANWATCH_HISTORY_PICTURE_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/event_blob.h"
#include "history/picture.h"

namespace nanwatch {

class PictureReader {
 public:
  // Steps [from, to].
  PictureReader(Database& database, int64_t run, int32_t rank, int64_t from,
                int64_t to)
      : database_(database), run_(run), rank_(rank), from_(from), to_(to) {}

  // At most `points` buckets, in the order of the records.
  Result<std::vector<StepBucket>> Draw(int points);
  uint64_t damaged() const { return damaged_; }  // rows that were passed over

 private:
  // Records [begin, end) by ordinal, from `level` or finer.
  Status Take(int level, uint64_t begin, uint64_t end);
  Status TakeRecords(uint64_t begin, uint64_t end);
  void TakeBlob(std::string_view body, uint64_t place, uint64_t begin,
                uint64_t end);
  void TakeBatch(const StepColumns& columns, uint64_t place, uint64_t begin,
                 uint64_t end);
  Status ReadRows(int level, uint64_t begin, uint64_t end,
                  std::vector<PlacedBucket>* buckets);
  bool Outside(int64_t first, int64_t last) const {
    return last < from_ || first > to_;
  }
  bool Inside(int64_t first, int64_t last) const {
    return first >= from_ && last <= to_;
  }
  void Emit(const StepBucket& bucket);

  Database& database_;
  const int64_t run_;
  const int32_t rank_;
  const int64_t from_;
  const int64_t to_;
  Decompressor decompressor_;
  std::string plain_;
  int coarsest_ = kLevels;  // that may be taken whole
  bool counting_ = false;   // only records_, no buckets_
  uint64_t records_ = 0;
  uint64_t each_ = 1;  // records that a point should hold
  std::vector<StepBucket> buckets_;
  uint64_t damaged_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_PICTURE_READER_H_
