#include "history/picture_writer.h"

#include <algorithm>
#include <string>

#include "history/schema.h"

namespace nanwatch {

namespace {

// Where the rows of `level` end; 0 without any.
Result<uint64_t> CoveredTo(const std::pair<int64_t, int32_t>& key, int level,
                           Database& database) {
  Result<Statement> find = database.Prepare(
      "SELECT place + records FROM pictures WHERE run = ? AND rank = ? AND "
      "level = ? ORDER BY place DESC LIMIT 1");
  if (!find) return Error{find.error()};
  find->Bind(1, key.first).Bind(2, int64_t{key.second}).Bind(3, int64_t{level});
  const Result<bool> row = find->Next();
  if (!row) return Error{row.error()};
  return *row ? static_cast<uint64_t>(find->Int(0)) : uint64_t{0};
}

}  // namespace

Status PictureWriter::Add(int64_t run, int32_t rank, bool fresh,
                          const StepColumns& columns, Database& database,
                          uint64_t* place) {
  const RankKey key{run, rank};
  auto found = ranks_.find(key);
  if (found == ranks_.end()) {
    Rank known;
    if (!fresh) {
      if (Status s = Load(key, database, &known); !s) return s;
    }
    found = ranks_.emplace(key, std::move(known)).first;
  }
  *place = found->second.place;
  Take(columns, 0, &found->second);
  return WriteRows(key, false, database, &found->second);
}

void PictureWriter::Take(const StepColumns& columns, size_t begin, Rank* rank) {
  Level& finest = rank->level[0];
  while (begin < columns.rows()) {
    PlacedBucket& open = finest.open;
    if (open.bucket.records == 0) open.place = rank->place;
    const size_t room = LevelRecords(1) - open.bucket.records;
    const size_t end = std::min(columns.rows(), begin + room);
    AddRows(columns, begin, end, &open.bucket);
    rank->place += end - begin;
    begin = end;
    if (open.bucket.records < LevelRecords(1)) continue;
    finest.full.push_back(open);
    Promote(open, 1, rank);
    open = {};
  }
}

void PictureWriter::Promote(const PlacedBucket& bucket, int level, Rank* rank) {
  if (level == kLevels) return;
  Level& coarser = rank->level[level];
  if (coarser.open.bucket.records == 0) coarser.open.place = bucket.place;
  AddBucket(bucket.bucket, &coarser.open.bucket);
  if (coarser.open.bucket.records < LevelRecords(level + 1)) return;
  coarser.full.push_back(coarser.open);
  Promote(coarser.full.back(), level + 1, rank);
  coarser.open = {};
}

Status PictureWriter::WriteRows(const RankKey& key, bool all,
                                Database& database, Rank* rank) {
  for (int level = 1; level <= kLevels; ++level) {
    std::vector<PlacedBucket>& full = rank->level[level - 1].full;
    if (full.empty() || (full.size() < kBucketsPerRow && !all)) continue;
    if (!insert_) {
      Result<Statement> insert = database.Prepare(
          "INSERT INTO pictures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
      if (!insert) return Error{insert.error()};
      insert_ = std::move(*insert);
    }
    StepBucket whole;
    for (const PlacedBucket& part : full) AddBucket(part.bucket, &whole);
    EncodeBuckets(full, &plain_);
    const std::string_view packed = compressor_.Compress(plain_);
    insert_->Bind(1, key.first).Bind(2, int64_t{key.second});
    insert_->Bind(3, int64_t{level});
    insert_->Bind(4, static_cast<int64_t>(full.front().place));
    insert_->Bind(5,
                  static_cast<int64_t>(full.back().end() - full.front().place));
    insert_->Bind(6, whole.first_step).Bind(7, whole.last_step);
    insert_->Bind(8, ToMicros(whole.last)).BindBlob(9, packed);
    if (Status s = insert_->Run(); !s) return s;
    full.clear();
  }
  return OkStatus();
}

Status PictureWriter::Close(int64_t run, Database& database) {
  auto at = ranks_.lower_bound({run, INT32_MIN});
  while (at != ranks_.end() && at->first.first == run) {
    for (Level& level : at->second.level) {
      if (level.open.bucket.records != 0) level.full.push_back(level.open);
    }
    if (Status s = WriteRows(at->first, true, database, &at->second); !s) {
      return s;
    }
    at = ranks_.erase(at);
  }
  return OkStatus();
}

// From the coarsest level down: each level's rows fill what the next coarser
// one has not written, and the records after all rows come last, as if they
// arrived.
Status PictureWriter::Load(const RankKey& key, Database& database, Rank* rank) {
  std::array<uint64_t, kLevels + 1> covered{};
  for (int level = 1; level <= kLevels; ++level) {
    const Result<uint64_t> to = CoveredTo(key, level, database);
    if (!to) return Error{to.error()};
    covered[level] = *to;
  }
  for (int level = kLevels - 1; level >= 1; --level) {
    std::vector<PlacedBucket> buckets;
    if (Status s = LoadRows(key, level, covered[level + 1], database, &buckets);
        !s) {
      return s;
    }
    for (const PlacedBucket& bucket : buckets) {
      if (bucket.place >= covered[level + 1]) Promote(bucket, level, rank);
    }
  }
  rank->place = covered[1];
  return LoadRecords(key, covered[1], database, rank);
}

Status PictureWriter::LoadRows(const RankKey& key, int level, uint64_t from,
                               Database& database,
                               std::vector<PlacedBucket>* buckets) {
  Result<Statement> find = database.Prepare(
      "SELECT body FROM pictures WHERE run = ? AND rank = ? AND level = ? AND "
      "place + records > ? ORDER BY place");
  if (!find) return Error{find.error()};
  find->Bind(1, key.first).Bind(2, int64_t{key.second}).Bind(3, int64_t{level});
  find->Bind(4, static_cast<int64_t>(from));
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    // A damaged row is a hole; readers fill it from the records.
    if (decompressor_.Decompress(find->Blob(0), &plain_)) {
      (void)DecodeBuckets(plain_, buckets);
    }
  }
}

Status PictureWriter::LoadRecords(const RankKey& key, uint64_t from,
                                  Database& database, Rank* rank) {
  Result<Statement> find = database.Prepare(
      "SELECT place, records, body FROM events WHERE run = ?1 AND kind = ?2 "
      "AND rank = ?3 AND place >= coalesce((SELECT max(place) FROM events "
      "WHERE run = ?1 AND kind = ?2 AND rank = ?3 AND place <= ?4), 0) "
      "ORDER BY place");
  if (!find) return Error{find.error()};
  find->Bind(1, key.first).Bind(2, static_cast<int64_t>(EventKind::kSteps));
  find->Bind(3, int64_t{key.second}).Bind(4, static_cast<int64_t>(from));
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    const uint64_t end = find->Int(0) + find->Int(1);
    uint64_t place = find->Int(0);
    if (decompressor_.Decompress(find->Blob(2), &plain_)) {
      StampedEvent stamped;
      for (BlobReader reader(plain_); reader.Next(&stamped);) {
        const auto* steps = std::get_if<StepBatch>(&stamped.event.body);
        if (steps == nullptr) break;
        const uint64_t next = place + steps->columns.rows();
        if (next > rank->place) {
          const uint64_t known = rank->place > place ? rank->place - place : 0;
          rank->place = place + known;
          Take(steps->columns, known, rank);
        }
        place = next;
      }
    }
    rank->place = std::max(rank->place, end);
  }
}

}  // namespace nanwatch
