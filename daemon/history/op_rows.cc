#include "history/op_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "history/event_blob.h"
#include "history/schema.h"
#include "model/limits.h"

namespace nanwatch {

namespace {

using NamesBySession = std::map<SessionId, std::vector<OpName>>;

// Every blob of one kind of a rank; `newest_first` or as they came. `visit`
// gets the events of one blob and says whether it wants more.
Status ForEachBlob(
    Database& database, int64_t run, EventKind kind, const OpQuery& query,
    bool newest_first, uint64_t* damaged,
    const std::function<bool(std::vector<StampedEvent>&)>& visit) {
  Result<Statement> find = database.Prepare(
      std::string("SELECT body FROM events WHERE run = ? AND kind = ? AND "
                  "rank = ? AND first_step <= ? AND last_step >= ? "
                  "ORDER BY place ") +
      (newest_first ? "DESC" : "ASC"));
  if (!find) return Error{find.error()};
  const bool batch = IsBatch(kind);
  find->Bind(1, run).Bind(2, static_cast<int64_t>(kind));
  find->Bind(3, int64_t{query.rank});
  find->Bind(4, batch ? query.to : INT64_MAX);
  find->Bind(5, batch ? query.from : INT64_MIN);
  Decompressor decompressor;
  std::string plain;
  while (true) {
    const Result<bool> row = find->Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
    if (!decompressor.Decompress(find->Blob(0), &plain)) {
      ++*damaged;
      continue;
    }
    std::vector<StampedEvent> events(1);
    BlobReader reader(plain);
    while (reader.Next(&events.back())) events.emplace_back();
    events.pop_back();
    if (!visit(events)) return OkStatus();
  }
}

Status LoadNames(Database& database, int64_t run, const OpQuery& query,
                 uint64_t* damaged, NamesBySession* names) {
  return ForEachBlob(
      database, run, EventKind::kOpNames, query, false, damaged,
      [&](std::vector<StampedEvent>& events) {
        for (StampedEvent& stamped : events) {
          auto* added = std::get_if<OpNamesAdded>(&stamped.event.body);
          if (added == nullptr) continue;
          std::vector<OpName>& known = (*names)[stamped.event.session];
          const size_t first = added->names.first_index;
          const size_t end = first + added->names.ops.size();
          if (end > limits::kOpsPerSession) continue;
          if (known.size() < end) known.resize(end);
          std::move(added->names.ops.begin(), added->names.ops.end(),
                    known.begin() + first);
        }
        return true;
      });
}

std::optional<ExponentCounts> ExponentsOf(const OpColumns& columns,
                                          size_t row) {
  const auto at = std::lower_bound(
      columns.exponents.begin(), columns.exponents.end(), row,
      [](const ExponentCounts& e, size_t wanted) { return e.row < wanted; });
  if (at == columns.exponents.end() || at->row != row) return {};
  return *at;
}

// Statuses that are looked at for the bad ones among them: a tenth of a second.
constexpr size_t kLookedAt = 1000000;

bool IsBad(const OpStatus& status) {
  return status.BadElements(true) > 0 || status.device_flag.value_or(false);
}

// Rows of one batch inside the range, newest first, behind `*rows`. Returns how
// many were looked at.
size_t TakeBatch(const StampedEvent& stamped, const OpQuery& query,
                 const NamesBySession& names, size_t most,
                 std::vector<OpRow>* rows) {
  const auto* ops = std::get_if<OpBatch>(&stamped.event.body);
  if (ops == nullptr || stamped.event.rank != query.rank) return 0;
  const auto known = names.find(stamped.event.session);
  size_t looked_at = 0;
  for (size_t i = ops->columns.rows(); i-- > 0 && rows->size() < most;) {
    const int64_t step = ops->columns.GroupOf(i).step;
    if (step < query.from || step > query.to) continue;
    ++looked_at;
    OpStatus status = ReadRow(ops->columns, i);
    if (query.bad_only && !IsBad(status)) continue;
    OpRow& row = rows->emplace_back();
    row.status = status;
    if (!ops->columns.digest.empty()) row.digest = ops->columns.digest[i];
    row.exponents = ExponentsOf(ops->columns, i);
    if (known != names.end() && row.status.op < known->second.size()) {
      row.op = known->second[row.status.op];
    } else {
      row.op.name = "op " + std::to_string(row.status.op);
    }
  }
  return looked_at;
}

int64_t FirstStep(const std::vector<StampedEvent>& events) {
  int64_t first = INT64_MAX;
  for (const StampedEvent& stamped : events) {
    const auto* ops = std::get_if<OpBatch>(&stamped.event.body);
    if (ops == nullptr) continue;
    for (const OpGroup& group : ops->columns.groups) {
      first = std::min(first, group.step);
    }
  }
  return first;
}

}  // namespace

Result<OpRows> ReadOpRows(Database& database, int64_t run, const OpQuery& query,
                          uint64_t* damaged) {
  NamesBySession names;
  if (Status s = LoadNames(database, run, query, damaged, &names); !s) {
    return Error{s.error()};
  }
  const size_t most = std::clamp(query.rows, 1, limits::kPointsPerQuery);
  OpRows found;
  size_t looked_at = 0;
  const Status read = ForEachBlob(
      database, run, EventKind::kOps, query, true, damaged,
      [&](std::vector<StampedEvent>& events) {
        for (size_t i = events.size(); i-- > 0;) {
          looked_at += TakeBatch(events[i], query, names, most, &found.rows);
        }
        if (found.rows.size() < most && looked_at < kLookedAt) return true;
        found.from = found.rows.size() < most ? FirstStep(events)
                                              : found.rows.back().status.step;
        return false;
      });
  if (!read) return Error{read.error()};
  std::reverse(found.rows.begin(), found.rows.end());
  return found;
}

}  // namespace nanwatch
