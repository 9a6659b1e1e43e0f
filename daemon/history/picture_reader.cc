#include "history/picture_reader.h"

#include <algorithm>
#include <utility>

#include "history/schema.h"
#include "model/limits.h"

namespace nanwatch {

namespace {

// A level is coarse enough when it still gives this share of the points that
// were asked for: from then on a coarser picture of a longer run costs no more.
constexpr uint64_t kFewestPointsShare = 5;

int ChooseLevel(uint64_t records, uint64_t points) {
  if (records <= points) return 0;
  for (int level = kLevels; level > 0; --level) {
    if (records / LevelRecords(level) * kFewestPointsShare >= points) {
      return level;
    }
  }
  return records > points * kLevelFactor ? 1 : 0;
}

// Neighbours until each holds about `records` records.
std::vector<StepBucket> Merge(const std::vector<StepBucket>& fine,
                              uint64_t records) {
  std::vector<StepBucket> merged;
  for (const StepBucket& bucket : fine) {
    if (merged.empty() || merged.back().records + bucket.records > records) {
      merged.emplace_back();
    }
    AddBucket(bucket, &merged.back());
  }
  return merged;
}

}  // namespace

Result<std::vector<StepBucket>> PictureReader::Draw(int points) {
  const size_t most = std::clamp(points, 1, limits::kPointsPerQuery);
  // One transaction, so that both passes see the same.
  if (Status s = database_.Execute("BEGIN"); !s) return Error{s.error()};
  counting_ = true;
  Status taken = Take(kLevels, 0, INT64_MAX);
  counting_ = false;
  coarsest_ = ChooseLevel(records_, most);
  each_ = records_ <= most ? 1 : records_ / most + 1;
  damaged_ = 0;
  if (taken) taken = Take(kLevels, 0, INT64_MAX);
  (void)database_.Execute("COMMIT");
  if (!taken) return Error{taken.error()};
  // Edges and the newest records are finer than the middle: those merge first.
  while (buckets_.size() > most) {
    each_ += each_ / 2 + 1;
    buckets_ = Merge(buckets_, each_);
  }
  return std::move(buckets_);
}

Status PictureReader::Take(int level, uint64_t begin, uint64_t end) {
  if (begin >= end) return OkStatus();
  if (level == 0) return TakeRecords(begin, end);
  std::vector<PlacedBucket> buckets;
  if (Status s = ReadRows(level, begin, end, &buckets); !s) return s;
  uint64_t next = begin;
  for (const PlacedBucket& placed : buckets) {
    if (placed.end() <= next || placed.place >= end) continue;
    if (placed.place > next) {
      if (Status s = Take(level - 1, next, placed.place); !s) return s;
      next = placed.place;
    }
    const StepBucket& bucket = placed.bucket;
    if (!Outside(bucket.first_step, bucket.last_step)) {
      const bool whole = level <= coarsest_ && placed.place == next &&
                         placed.end() <= end &&
                         Inside(bucket.first_step, bucket.last_step);
      if (whole) {
        Emit(bucket);
      } else if (Status s = Take(level - 1, next, std::min(placed.end(), end));
                 !s) {
        return s;
      }
    }
    next = placed.end();
  }
  return Take(level - 1, next, end);
}

Status PictureReader::ReadRows(int level, uint64_t begin, uint64_t end,
                               std::vector<PlacedBucket>* buckets) {
  Result<Statement> find = database_.Prepare(
      "SELECT body, first_step, last_step, place, records FROM pictures "
      "WHERE run = ?1 AND rank = ?2 AND level = ?3 AND place < ?4 AND "
      "place >= coalesce((SELECT max(place) FROM pictures WHERE run = ?1 AND "
      "rank = ?2 AND level = ?3 AND place <= ?5), 0) ORDER BY place");
  if (!find) return Error{find.error()};
  find->Bind(1, run_).Bind(2, int64_t{rank_}).Bind(3, int64_t{level});
  find->Bind(4, static_cast<int64_t>(end));
  find->Bind(5, static_cast<int64_t>(begin));
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    if (Outside(find->Int(1), find->Int(2))) {
      // Only where it lies, so that it is not sought below.
      PlacedBucket skipped;
      skipped.place = find->Int(3);
      skipped.bucket.records = find->Int(4);
      skipped.bucket.first_step = find->Int(1);
      skipped.bucket.last_step = find->Int(2);
      buckets->push_back(skipped);
    } else if (const size_t before = buckets->size();
               !decompressor_.Decompress(find->Blob(0), &plain_) ||
               !DecodeBuckets(plain_, buckets)) {
      ++damaged_;
      buckets->resize(before);
    }
  }
}

Status PictureReader::TakeRecords(uint64_t begin, uint64_t end) {
  Result<Statement> find = database_.Prepare(
      "SELECT place, records, first_step, last_step, body FROM events "
      "WHERE run = ?1 AND kind = ?2 AND rank = ?3 AND place < ?4 AND "
      "place >= coalesce((SELECT max(place) FROM events WHERE run = ?1 AND "
      "kind = ?2 AND rank = ?3 AND place <= ?5), 0) ORDER BY place");
  if (!find) return Error{find.error()};
  find->Bind(1, run_).Bind(2, static_cast<int64_t>(EventKind::kSteps));
  find->Bind(3, int64_t{rank_}).Bind(4, static_cast<int64_t>(end));
  find->Bind(5, static_cast<int64_t>(begin));
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    const uint64_t place = find->Int(0);
    const uint64_t records = find->Int(1);
    if (place + records <= begin || Outside(find->Int(2), find->Int(3))) {
      continue;
    }
    if (counting_ && place >= begin && place + records <= end &&
        Inside(find->Int(2), find->Int(3))) {
      records_ += records;
      continue;
    }
    TakeBlob(find->Blob(4), place, begin, end);
  }
}

void PictureReader::TakeBlob(std::string_view body, uint64_t place,
                             uint64_t begin, uint64_t end) {
  if (!decompressor_.Decompress(body, &plain_)) {
    ++damaged_;
    return;
  }
  StampedEvent stamped;
  BlobReader reader(plain_);
  while (reader.Next(&stamped)) {
    const auto* steps = std::get_if<StepBatch>(&stamped.event.body);
    if (steps == nullptr || stamped.event.rank != rank_) {
      ++damaged_;
      return;
    }
    TakeBatch(steps->columns, place, begin, end);
    place += steps->columns.rows();
  }
  if (reader.damaged()) ++damaged_;
}

// Rows of one batch that begins at `place`, as many at once as one point takes.
void PictureReader::TakeBatch(const StepColumns& columns, uint64_t place,
                              uint64_t begin, uint64_t end) {
  const auto wanted = [&](size_t row) {
    return place + row >= begin && place + row < end &&
           !Outside(columns.step[row], columns.step[row]);
  };
  size_t row = 0;
  while (row < columns.rows()) {
    if (!wanted(row)) {
      ++row;
      continue;
    }
    if (!counting_ && (buckets_.empty() || buckets_.back().records >= each_)) {
      buckets_.emplace_back();
    }
    const uint64_t room =
        counting_ ? UINT64_MAX : each_ - buckets_.back().records;
    const size_t first = row;
    while (row < columns.rows() && row - first < room && wanted(row)) ++row;
    if (counting_) {
      records_ += row - first;
    } else {
      AddRows(columns, first, row, &buckets_.back());
    }
  }
}

void PictureReader::Emit(const StepBucket& bucket) {
  if (counting_) {
    records_ += bucket.records;
    return;
  }
  if (buckets_.empty() || buckets_.back().records + bucket.records > each_) {
    buckets_.emplace_back();
  }
  AddBucket(bucket, &buckets_.back());
}

}  // namespace nanwatch
