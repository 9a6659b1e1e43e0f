#include "history/event_scan.h"

#include <algorithm>
#include <utility>

#include "model/limits.h"

namespace nanwatch {

namespace {

// A page is one short read transaction.
constexpr size_t kPageRows = 256;
constexpr size_t kScanBytes = 1 << 20;
constexpr char kColumns[] =
    "SELECT first_id, last_id, count, body FROM events ";
// From a key on, not behind the one before: that one may lie on a page that is
// damaged, while its successor does not.
constexpr char kFrom[] =
    "WHERE first_id >= ? AND last_id > ? ORDER BY first_id";

}  // namespace

Status EventScan::All(uint64_t after, const Visit& visit) {
  if (Status s = LoadGaps(); !s && !database_.IsDamaged()) return s;
  const Result<int64_t> removed =
      database_.Number("SELECT value FROM meta WHERE key = 'removed_through'");
  if (!removed && !database_.IsDamaged()) return Error{removed.error()};
  // Where these tables are damaged, what they would explain counts as missing:
  // that is no reason to give up the events.
  count_missing_ = true;
  after_ = visited_ = after;
  expected_ = std::max<uint64_t>(after, removed ? *removed : 0) + 1;
  uint64_t cursor =
      after > limits::kHistoryIdSpan ? after - limits::kHistoryIdSpan : 0;
  uint64_t newest = 0;
  std::vector<Row> page;
  while (true) {
    if (Status s = ReadPage(after, &cursor, &page); !s) return s;
    if (page.empty()) break;
    // A key that is damaged may be far too large: the next page begins after
    // one that its blob confirms, or, where none does, after a middling one.
    uint64_t sure = 0;
    for (Row& row : page) {
      newest = std::max(newest, row.last_id);
      std::unique_ptr<Open> open = OpenRow(row);
      if (open == nullptr) continue;
      if (!VisitBefore(row.first_id, visit)) return OkStatus();
      open_.push(std::move(open));
      sure = row.first_id;
    }
    cursor = sure != 0 ? sure : MiddleKey(&page);
  }
  if (!VisitBefore(UINT64_MAX, visit)) return OkStatus();
  // A damaged last_id must not count for more than a blob can hold.
  if (newest > visited_ && newest - visited_ <= limits::kHistoryIdSpan) {
    CountMissing(newest + 1);
  }
  return OkStatus();
}

Status EventScan::Rows(const std::vector<int64_t>& first_ids, uint64_t after,
                       const Visit& visit) {
  count_missing_ = false;
  after_ = visited_ = after;
  Result<Statement> find =
      database_.Prepare(std::string(kColumns) + "WHERE first_id = ?");
  if (!find) return Error{find.error()};
  for (const int64_t first_id : first_ids) {
    find->Bind(1, first_id);
    const Result<bool> found = find->Next();
    if (!found || !*found) {
      // Removed since, or on a damaged page.
      if (!found) ++damaged_;
      continue;
    }
    Row row;
    row.first_id = find->Int(0);
    row.last_id = find->Int(1);
    row.count = find->Int(2);
    row.body = find->Blob(3);
    find->Reset();
    std::unique_ptr<Open> open = OpenRow(row);
    if (open == nullptr) continue;
    if (!VisitBefore(row.first_id, visit)) return OkStatus();
    open_.push(std::move(open));
  }
  VisitBefore(UINT64_MAX, visit);
  return OkStatus();
}

// Where a page of the file is damaged, rows are sought behind it: at growing
// distances, and from the first place that works back to the damage.
Status EventScan::ReadPage(uint64_t after, uint64_t* cursor,
                           std::vector<Row>* page) {
  page->clear();
  bool damaged = false;
  if (Status s = ReadRows(after, cursor, page, &damaged); !s) return s;
  if (!damaged || !page->empty()) return OkStatus();
  uint64_t bad = *cursor;
  uint64_t good = bad;
  for (uint64_t stride = 1; damaged; stride *= 2) {
    good += stride;
    if (good >= uint64_t{INT64_MAX} / 2) {
      end_is_damaged_ = true;
      return OkStatus();
    }
    if (Status s = Seek(after, good, &damaged); !s) return s;
    if (damaged) bad = good;
  }
  while (good - bad > 1) {
    const uint64_t middle = bad + (good - bad) / 2;
    if (Status s = Seek(after, middle, &damaged); !s) return s;
    (damaged ? bad : good) = middle;
  }
  *cursor = good;
  if (Status s = ReadRows(after, cursor, page, &damaged); !s) return s;
  // Only the content of the last rows is on pages that cannot be read.
  end_is_damaged_ = page->empty() && !damaged;
  return OkStatus();
}

Status EventScan::Seek(uint64_t after, uint64_t cursor, bool* damaged) {
  Result<Statement> find =
      database_.Prepare(std::string(kColumns) + kFrom + " LIMIT 1");
  if (!find) return Error{find.error()};
  find->Bind(1, static_cast<int64_t>(cursor + 1));
  find->Bind(2, static_cast<int64_t>(after));
  const Result<bool> found = find->Next();
  *damaged = !found;
  return found || database_.IsDamaged() ? OkStatus()
                                        : Status(Error{found.error()});
}

Status EventScan::ReadRows(uint64_t after, uint64_t* cursor,
                           std::vector<Row>* page, bool* damaged) {
  Result<Statement> find = database_.Prepare(std::string(kColumns) + kFrom);
  if (!find) return Error{find.error()};
  const uint64_t from = *cursor;
  find->Bind(1, static_cast<int64_t>(from + 1));
  find->Bind(2, static_cast<int64_t>(after));
  *damaged = false;
  size_t bytes = 0;
  while (page->size() < kPageRows && bytes <= kScanBytes) {
    const Result<bool> found = find->Next();
    if (!found) {
      *damaged = true;
      return database_.IsDamaged() ? OkStatus() : Status(Error{found.error()});
    }
    if (!*found) return OkStatus();
    // Where a key within the tree is damaged, SQLite begins too early. These
    // rows were there before; with them the scan might never get any further.
    const auto first_id = static_cast<uint64_t>(find->Int(0));
    if (first_id <= from) continue;
    Row& row = page->emplace_back();
    row.first_id = first_id;
    row.last_id = find->Int(1);
    row.count = find->Int(2);
    row.body = find->Blob(3);
    *cursor = row.first_id;
    bytes += row.body.size();
  }
  return OkStatus();
}

uint64_t EventScan::MiddleKey(std::vector<Row>* page) {
  const auto middle = page->begin() + static_cast<int64_t>(page->size() / 2);
  std::nth_element(
      page->begin(), middle, page->end(),
      [](const Row& a, const Row& b) { return a.first_id < b.first_id; });
  return middle->first_id;
}

std::unique_ptr<EventScan::Open> EventScan::OpenRow(const Row& row) {
  std::string plain;
  if (decompressor_.Decompress(row.body, &plain)) {
    auto open = std::make_unique<Open>(std::move(plain));
    if (open->reader.Next(&open->next) && open->next.id == row.first_id) {
      open->left = EventsIn(row);
      return open;
    }
  }
  // What contiguity of the ids will find missing is counted there.
  if (!count_missing_ || row.first_id < expected_) damaged_ += EventsIn(row);
  return nullptr;
}

uint64_t EventScan::EventsIn(const Row& row) {
  const uint64_t most = row.last_id >= row.first_id
                            ? std::min<uint64_t>(row.last_id - row.first_id + 1,
                                                 limits::kHistoryIdSpan)
                            : 1;
  return std::clamp<uint64_t>(row.count, 1, most);
}

bool EventScan::VisitBefore(uint64_t before, const Visit& visit) {
  while (!open_.empty() && open_.top()->next.id < before) {
    // The queue's top is const only to keep its order, which pop ends anyway.
    std::unique_ptr<Open> open =
        std::move(const_cast<std::unique_ptr<Open>&>(open_.top()));
    open_.pop();
    if (!VisitOne(std::move(open), before, visit)) return false;
  }
  return true;
}

bool EventScan::VisitOne(std::unique_ptr<Open> open, uint64_t before,
                         const Visit& visit) {
  const uint64_t later =
      open_.empty() ? before : std::min(before, open_.top()->next.id);
  // As long as no other blob has an earlier event, without touching the queue.
  do {
    const uint64_t id = open->next.id;
    if (open->left != 0) --open->left;
    if (id > visited_) {
      CountMissing(id);
      visited_ = id;
      expected_ = std::max(expected_, id + 1);
      if (!visit(open->next)) return false;
    } else if (id > after_) {
      ++damaged_;  // an id twice: the older one stands
    }
    if (!open->reader.Next(&open->next)) {
      if (open->reader.damaged() && !count_missing_) damaged_ += open->left;
      return true;
    }
  } while (open->next.id < later);
  open_.push(std::move(open));
  return true;
}

void EventScan::CountMissing(uint64_t next_id) {
  if (!count_missing_ || next_id <= expected_) return;
  uint64_t missing = next_id - expected_;
  for (const auto& [first, last] : gaps_) {
    const uint64_t from = std::max(first, expected_);
    const uint64_t to = std::min(last + 1, next_id);
    if (from < to) missing -= std::min(missing, to - from);
  }
  damaged_ += missing;
  expected_ = next_id;
}

Status EventScan::LoadGaps() {
  gaps_.clear();
  Result<Statement> find =
      database_.Prepare("SELECT first_id, last_id FROM gaps");
  if (!find) return Error{find.error()};
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    gaps_.emplace_back(find->Int(0), find->Int(1));
  }
}

}  // namespace nanwatch
