// Pictures: steps of one rank at three coarser levels, so that a million steps
// are drawn from a thousand numbers and no single bad step is lost. A bucket of
// level k holds 64^k records (level 0 is the records themselves).

#ifndef NANWATCH_HISTORY_PICTURE_H_
#define NANWATCH_HISTORY_PICTURE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history/reader.h"
#include "model/step.h"

namespace nanwatch {

inline constexpr int kLevels = 3;
inline constexpr uint64_t kLevelFactor = 64;
// Records in a full bucket of `level`.
inline constexpr uint64_t LevelRecords(int level) {
  uint64_t records = 1;
  for (int i = 0; i < level; ++i) records *= kLevelFactor;
  return records;
}
// Buckets in one row of the table `pictures`: few, since what is not yet full
// waits in memory; many enough that rows are rare.
inline constexpr size_t kBucketsPerRow = 16;

// A bucket and where it begins: the ordinal, from 0, of its first record among
// all the rank's records of the attempt.
struct PlacedBucket {
  uint64_t place = 0;
  StepBucket bucket;
  uint64_t end() const { return place + bucket.records; }
};

// Adds rows [begin, end) of `columns`.
void AddRows(const StepColumns& columns, size_t begin, size_t end,
             StepBucket* bucket);
// Adds a later bucket. Also for the first: into an empty one.
void AddBucket(const StepBucket& later, StepBucket* bucket);

void EncodeBuckets(const std::vector<PlacedBucket>& buckets, std::string* out);
// False: damaged. Appends.
bool DecodeBuckets(std::string_view bytes, std::vector<PlacedBucket>* buckets);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_PICTURE_H_
