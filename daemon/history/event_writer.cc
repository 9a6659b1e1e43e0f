#include "history/event_writer.h"

#include <algorithm>
#include <utility>

#include "history/incident_codec.h"
#include "model/limits.h"
#include "model/step_extent.h"
#include "wire/event_codec.h"

namespace nanwatch {

namespace {

// Buffers of groups that are kept between transactions.
constexpr size_t kGroupsKept = 64;

struct Extent {
  uint64_t records = 0;
  StepExtent steps;
};

Extent RecordsOf(const Event& event) {
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    return {steps->columns.rows(), ExtentOf(steps->columns)};
  }
  if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    return {ops->columns.rows(), ExtentOf(ops->columns)};
  }
  return {};
}

}  // namespace

Status EventWriter::Write(std::span<const WriteItem> items,
                          std::span<const SentIncident> sent) {
  if (Status s = database_.Execute("BEGIN IMMEDIATE"); !s) return s;
  return End(WriteAll(items, sent));
}

Status EventWriter::End(Status written) {
  if (written) written = database_.Execute("COMMIT");
  if (written) {
    catalog_.Committed();
  } else {
    database_.Rollback();
  }
  return written;
}

Status EventWriter::WriteAll(std::span<const WriteItem> items,
                             std::span<const SentIncident> sent) {
  for (const WriteItem& item : items) {
    if (Status s = WriteOne(item); !s) return s;
  }
  // In the order of their ids, so that the table grows at its end.
  std::vector<std::pair<const GroupKey, Group>*> open;
  for (auto& entry : groups_) {
    if (entry.second.count != 0) open.push_back(&entry);
  }
  std::sort(open.begin(), open.end(), [](const auto* a, const auto* b) {
    return a->second.first_id < b->second.first_id;
  });
  for (auto* entry : open) {
    if (Status s = Flush(entry->first, &entry->second); !s) return s;
  }
  for (const int64_t run : ended_) {
    if (Status s = pictures_.Close(run, database_); !s) return s;
    ops_place_.erase(ops_place_.lower_bound({run, INT32_MIN}),
                     ops_place_.upper_bound({run, INT32_MAX}));
  }
  ended_.clear();
  // Buffers are kept for the next time unless there are very many.
  if (groups_.size() > kGroupsKept) groups_.clear();
  for (const SentIncident& incident : sent) {
    if (Status s = WriteSent(incident); !s) return s;
  }
  const Time now = items.empty() ? Time{} : items.back().now;
  return catalog_.Save(now, database_);
}

Status EventWriter::WriteOne(const WriteItem& item) {
  const Event& event = *item.event;
  const EventKind kind = KindOf(event);
  CatalogRun* run = nullptr;
  int64_t row = 0;
  if (!event.run.run_id.empty()) {
    Result<CatalogRun*> found = catalog_.Find(event.run, item.now, &database_);
    if (!found) return Error{found.error()};
    run = *found;
    row = run->row;
  }
  const bool fresh = run != nullptr && run->fresh;
  uint64_t place = 0;
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    if (Status s = pictures_.Add(row, event.rank, fresh, steps->columns,
                                 database_, &place);
        !s) {
      return s;
    }
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    const Result<uint64_t> at =
        OpsPlace(row, event.rank, fresh, ops->columns.rows());
    if (!at) return Error{at.error()};
    place = *at;
  }
  if (Status s = AddToGroup(item, row, place, run); !s) return s;
  if (kind != EventKind::kRunClosed || run == nullptr) return OkStatus();
  // Whatever comes after the end finds its place in the file, once this group
  // is there.
  run->fresh = false;
  ended_.push_back(row);
  return OkStatus();
}

Status EventWriter::AddToGroup(const WriteItem& item, int64_t run,
                               uint64_t place, CatalogRun* catalog) {
  const EventKind kind = KindOf(*item.event);
  const GroupKey key{run, item.event->rank, kind};
  EncodeEvent(*item.event, &encoded_, Floats::kNarrow);
  if (catalog != nullptr) {
    catalog_.Note(*item.event, item.id, item.now, encoded_.size(), catalog);
  }
  Group& group = groups_[key];
  if (group.count != 0 &&
      (!IsBatch(kind) || item.id - group.first_id >= limits::kHistoryIdSpan ||
       group.plain.size() + encoded_.size() > limits::kHistoryGroupBytes ||
       place != group.place + group.records)) {
    if (Status s = Flush(key, &group); !s) return s;
  }
  const Extent extent = RecordsOf(*item.event);
  if (group.count == 0) {
    group.first_id = item.id;
    group.place = place;
    group.first_step = extent.steps.first;
    group.last_step = extent.steps.last;
  }
  group.first_step = std::min(group.first_step, extent.steps.first);
  group.last_step = std::max(group.last_step, extent.steps.last);
  group.records += extent.records;
  ++group.count;
  AppendToBlob(item.id, item.now, encoded_, &group.last_id, &group.last_now,
               &group.plain);
  if (encoded_.capacity() > kKeptBytes) encoded_ = {};
  return OkStatus();
}

Status EventWriter::Flush(const GroupKey& key, Group* group) {
  if (!insert_) {
    Result<Statement> insert = database_.Prepare(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!insert) return Error{insert.error()};
    insert_ = std::move(*insert);
  }
  const std::string_view packed = compressor_.Compress(group->plain);
  const auto& [run, rank, kind] = key;
  Statement& row = *insert_;
  row.Bind(1, static_cast<int64_t>(group->first_id));
  row.Bind(2, static_cast<int64_t>(group->last_id));
  row.Bind(3, group->count).Bind(4, static_cast<int64_t>(kind));
  row.Bind(5, run).Bind(6, int64_t{rank});
  // The index wants a place for every row; ids do for what has no records.
  row.Bind(
      7, static_cast<int64_t>(IsBatch(kind) ? group->place : group->first_id));
  row.Bind(8, static_cast<int64_t>(group->records));
  row.Bind(9, group->first_step).Bind(10, group->last_step);
  row.Bind(11, group->last_now).BindBlob(12, packed);
  bytes_ += packed.size();
  group->plain.clear();
  if (group->plain.capacity() > kKeptBytes) group->plain = {};
  group->count = 0;
  group->records = 0;
  group->last_id = 0;
  group->last_now = 0;
  return row.Run();
}

Result<uint64_t> EventWriter::OpsPlace(int64_t run, int32_t rank, bool fresh,
                                       uint64_t rows) {
  const auto [found, added] = ops_place_.try_emplace({run, rank}, 0);
  if (added && !fresh) {
    Result<Statement> find = database_.Prepare(
        "SELECT place + records FROM events WHERE run = ? AND kind = ? AND "
        "rank = ? ORDER BY place DESC LIMIT 1");
    if (!find) return Error{find.error()};
    find->Bind(1, run).Bind(2, static_cast<int64_t>(EventKind::kOps));
    find->Bind(3, int64_t{rank});
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (*row) found->second = find->Int(0);
  }
  return std::exchange(found->second, found->second + rows);
}

Status EventWriter::WriteSent(const SentIncident& sent) {
  Result<CatalogRun*> run = catalog_.Find(sent.run, Time{}, &database_);
  if (!run) return Error{run.error()};
  Result<Statement> insert = database_.Prepare(
      "INSERT OR REPLACE INTO incidents_sent VALUES (?, ?, ?)");
  if (!insert) return Error{insert.error()};
  std::string plain;
  EncodeIncident(sent.incident, &plain);
  insert->Bind(1, (*run)->row);
  insert->Bind(2, static_cast<int64_t>(sent.incident.id));
  insert->BindBlob(3, compressor_.Compress(plain));
  return insert->Run();
}

Status EventWriter::SaveCatalog(Time now) {
  if (Status s = database_.Execute("BEGIN IMMEDIATE"); !s) return s;
  return End(catalog_.SaveAll(now, database_));
}

Status EventWriter::WriteAfterGap(const EventGap& gap,
                                  std::span<const WriteItem> items, Time now) {
  if (Status s = database_.Execute("BEGIN IMMEDIATE"); !s) return s;
  Status written = WriteGap(gap);
  if (written) written = WriteAll(items, {});
  if (written) written = catalog_.SaveAll(now, database_);
  return End(std::move(written));
}

Status EventWriter::WriteGap(const EventGap& gap) {
  Result<Statement> insert =
      database_.Prepare("INSERT OR REPLACE INTO gaps VALUES (?, ?, ?)");
  if (!insert) return Error{insert.error()};
  insert->Bind(1, static_cast<int64_t>(gap.first));
  insert->Bind(2, static_cast<int64_t>(gap.last)).Bind(3, gap.reason);
  return insert->Run();
}

}  // namespace nanwatch
