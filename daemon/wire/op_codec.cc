#include "wire/op_codec.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "model/limits.h"
#include "wire/columns.h"

namespace nanwatch {
namespace {

using Batch = v1::OpBatch;

template <typename C>
struct ColumnAccess {
  bool (Batch::*has)() const;
  const C& (Batch::*get)() const;
  C* (Batch::*add)();
};
// By OpCount.
constexpr ColumnAccess<v1::CountColumn> kCounts[kOpCounts] = {
    {&Batch::has_nan, &Batch::nan, &Batch::mutable_nan},
    {&Batch::has_pos_inf, &Batch::pos_inf, &Batch::mutable_pos_inf},
    {&Batch::has_neg_inf, &Batch::neg_inf, &Batch::mutable_neg_inf},
    {&Batch::has_saturated, &Batch::saturated, &Batch::mutable_saturated},
    {&Batch::has_zero, &Batch::zero, &Batch::mutable_zero},
    {&Batch::has_subnormal, &Batch::subnormal, &Batch::mutable_subnormal},
};
// By OpStat.
constexpr ColumnAccess<v1::FloatColumn> kStats[kOpStats] = {
    {&Batch::has_min, &Batch::min, &Batch::mutable_min},
    {&Batch::has_max, &Batch::max, &Batch::mutable_max},
    {&Batch::has_abs_max, &Batch::abs_max, &Batch::mutable_abs_max},
    {&Batch::has_mean, &Batch::mean, &Batch::mutable_mean},
    {&Batch::has_rms, &Batch::rms, &Batch::mutable_rms},
    {&Batch::has_log2_mean, &Batch::log2_mean, &Batch::mutable_log2_mean},
    {&Batch::has_log2_std, &Batch::log2_std, &Batch::mutable_log2_std},
    {&Batch::has_fp8_amax, &Batch::fp8_amax, &Batch::mutable_fp8_amax},
    {&Batch::has_fp8_scale_inv, &Batch::fp8_scale_inv,
     &Batch::mutable_fp8_scale_inv},
};

constexpr int kLowestExponent = -1074;
constexpr int kHighestExponent = 1023;

Verdict ReadGroups(const Batch& from, size_t rows, OpColumns* to) {
  const int groups = from.step_rows_size();
  std::vector<int64_t> steps;
  std::vector<Time> times;
  if (static_cast<size_t>(groups) > rows || from.step_deltas_size() != groups ||
      from.time_us_deltas_size() != groups) {
    return Complaint{fmt::format("{} step_rows, {} steps and {} times for {} "
                                 "rows; send as many of each, and at most one "
                                 "a row",
                                 groups, from.step_deltas_size(),
                                 from.time_us_deltas_size(), rows),
                     ""};
  }
  if (Verdict w = ReadDeltas(from.step_deltas(), "step", &steps)) return w;
  if (Verdict w = ReadDeltas(from.time_us_deltas(), "time_us", &times)) {
    return w;
  }
  size_t left = rows;
  for (int i = 0; i < groups; ++i) {
    const size_t n = from.step_rows(i);
    if (n > left) break;
    left -= n;
    if (n > 0) to->AddGroup(steps[i], times[i], n);
    if (i + 1 == groups && left == 0) return std::nullopt;
  }
  if (groups == 0 && rows == 0) return std::nullopt;
  return Complaint{
      fmt::format("step_rows do not add up to the {} rows of op_deltas", rows),
      ""};
}

Verdict ReadOpIndices(const Batch& from, const OpShapes* shapes,
                      std::vector<uint32_t>* to) {
  const size_t known = shapes == nullptr ? size_t{1} << 32 : shapes->size();
  to->resize(from.op_deltas_size());
  int64_t op = 0;  // no sum of 2^32 int32 leaves 64 bits
  for (size_t row = 0; row < to->size(); ++row) {
    op += from.op_deltas(static_cast<int>(row));
    if (op < 0 || static_cast<uint64_t>(op) >= known) {
      return Complaint{
          fmt::format("row {} is of op {}, but this stream has sent {} op "
                      "names; send OpNames before statuses",
                      row, op, known),
          ""};
    }
    (*to)[row] = static_cast<uint32_t>(op);
  }
  return std::nullopt;
}

Verdict ReadSlots(const Batch& from, size_t rows, std::vector<Slot>* to) {
  const size_t n = from.slots_size();
  if (n != rows && n != 1) {
    return Complaint{fmt::format("column slots holds {} values for {} rows; "
                                 "send one a row, or one for all",
                                 n, rows),
                     ""};
  }
  to->reserve(rows);
  for (const int slot : from.slots()) {
    if (slot < 1 || slot > kSlots) {
      return Complaint{fmt::format("slot {} is none of 1 .. {}; see enum Slot",
                                   slot, kSlots),
                       ""};
    }
    to->push_back(static_cast<Slot>(slot - 1));
  }
  if (n == 1 && rows != 1) {
    const Slot all = to->front();
    to->assign(rows, all);
  }
  return std::nullopt;
}

// What is left of each row's elements; the counts are of different elements.
using Left = std::vector<uint64_t>;

// Calls `f` with each row that is listed with 0 elements.
template <typename F>
void ForEachEmpty(const v1::CountColumn& listed, F f) {
  size_t row = 0;
  for (int i = 0; i < listed.row_gaps_size(); ++i) {
    row += listed.row_gaps(i);
    if (listed.counts(i) == 0) f(row);
  }
}

// Of elements that nobody told any number may be left. A row that is listed
// with 0 has none; the columns say 0 for both.
Left LeftOf(const Batch& from, const OpColumns& ops) {
  Left left(ops.elements);
  std::replace(left.begin(), left.end(), uint64_t{0}, UINT64_MAX);
  ForEachEmpty(from.elements(), [&left](size_t row) { left[row] = 0; });
  return left;
}

Verdict ReadElements(const Batch& from, const OpShapes* shapes, size_t rows,
                     OpColumns* to) {
  to->elements.resize(rows);
  if (shapes != nullptr) {
    for (size_t row = 0; row < rows; ++row) {
      to->elements[row] = shapes->elements(to->op[row]);
    }
  }
  if (!from.has_elements()) return std::nullopt;
  const v1::CountColumn& listed = from.elements();
  SparseCounts counts;
  if (Verdict w = ReadColumn(listed, "elements", rows, &counts)) return w;
  if (listed.row_gaps_size() == 0 && listed.counts_size() > 0) {
    std::fill(to->elements.begin(), to->elements.end(), 0);
  }
  for (size_t i = 0; i < counts.rows.size(); ++i) {
    to->elements[counts.rows[i]] = counts.counts[i];
  }
  ForEachEmpty(listed, [to](size_t row) { to->elements[row] = 0; });
  for (size_t row = 0; row < counts.absent.size() * 8 && row < rows; ++row) {
    if (TestBit(counts.absent, row)) to->elements[row] = 0;
  }
  return std::nullopt;
}

Complaint TooMany(std::string_view name, size_t row, uint64_t count,
                  const OpColumns& ops) {
  return {fmt::format("row {} (op {}, step {}) counts {} in column {}, more "
                      "than its {} elements leave; count each element once",
                      row, ops.op[row], ops.GroupOf(row).step, count, name,
                      ops.elements[row]),
          ""};
}

Verdict ReadCounts(const Batch& from, size_t rows, OpColumns* to) {
  Left left;  // where there are counts
  for (int c = 0; c < kOpCounts; ++c) {
    const auto& access = kCounts[c];
    if (!(from.*access.has)()) continue;
    const std::string_view name = Name(static_cast<OpCount>(c));
    SparseCounts& counts = to->count[c].emplace();
    if (Verdict w = ReadColumn((from.*access.get)(), name, rows, &counts)) {
      return w;
    }
    if (left.empty() && !counts.rows.empty()) left = LeftOf(from, *to);
    for (size_t i = 0; i < counts.rows.size(); ++i) {
      const uint32_t row = counts.rows[i];
      if (counts.counts[i] > left[row]) {
        return TooMany(name, row, counts.counts[i], *to);
      }
      left[row] -= counts.counts[i];
    }
  }
  return std::nullopt;
}

Verdict ReadExponents(const Batch& from, size_t rows, const Left& elements,
                      OpColumns* to) {
  to->exponents.reserve(std::min<size_t>(from.exponents_size(), rows));
  for (const v1::ExponentCounts& one : from.exponents()) {
    const bool rises =
        to->exponents.empty() || to->exponents.back().row < one.row();
    if (!rises || one.row() >= rows) {
      return Complaint{fmt::format("exponents name row {} of {}; rows must "
                                   "rise and stay below the row count",
                                   one.row(), rows),
                       ""};
    }
    const int64_t last = int64_t{one.first()} + one.counts_size() - 1;
    if (one.first() < kLowestExponent || last > kHighestExponent) {
      return Complaint{fmt::format("exponents of row {} run from {} to {}; a "
                                   "binary exponent lies in {} .. {}",
                                   one.row(), one.first(), last,
                                   kLowestExponent, kHighestExponent),
                       ""};
    }
    uint64_t left = elements[one.row()];
    for (const uint64_t count : one.counts()) {
      if (count > left) return TooMany("exponents", one.row(), count, *to);
      left -= count;
    }
    to->exponents.push_back(
        {one.row(), one.first(), {one.counts().begin(), one.counts().end()}});
  }
  return std::nullopt;
}

Verdict ReadSketches(const v1::Sketches& from, size_t rows, Sketches* to) {
  const size_t told = from.rows_size();
  if (told > rows ||
      static_cast<size_t>(from.values_size()) != told * kSketchSums) {
    return Complaint{fmt::format("{} sketches have {} values for {} rows; send "
                                 "{} a row, and at most one sketch a row",
                                 told, from.values_size(), rows, kSketchSums),
                     ""};
  }
  for (size_t i = 0; i < told; ++i) {
    const uint32_t row = from.rows(static_cast<int>(i));
    if (row >= rows || (i > 0 && row <= to->rows.back())) {
      return Complaint{fmt::format("sketches name row {} of {}; rows must rise "
                                   "and stay below the row count",
                                   row, rows),
                       ""};
    }
    const auto* values = from.values().data() + i * kSketchSums;
    if (!std::all_of(values, values + kSketchSums,
                     [](float v) { return std::isfinite(v); })) {
      return Complaint{fmt::format("the sketch of row {} is not finite; it is "
                                   "of finite elements: see proto/SKETCH.md",
                                   row),
                       ""};
    }
    to->rows.push_back(row);
    to->values.insert(to->values.end(), values, values + kSketchSums);
  }
  if (from.has_nan()) {
    if (Verdict w =
            ReadColumn(from.nan(), "sketches.nan", told, &to->nan.emplace())) {
      return w;
    }
  }
  if (!from.has_inf()) return std::nullopt;
  return ReadColumn(from.inf(), "sketches.inf", told, &to->inf.emplace());
}

Verdict ReadStatistics(const Batch& from, size_t rows, OpColumns* to) {
  if (Verdict w = ReadCounts(from, rows, to)) return w;
  for (int s = 0; s < kOpStats; ++s) {
    const auto& access = kStats[s];
    if (!(from.*access.has)()) continue;
    if (Verdict w =
            ReadColumn((from.*access.get)(), Name(static_cast<OpStat>(s)), rows,
                       &to->stat[s].emplace())) {
      return w;
    }
  }
  if (from.has_device_flag()) {
    if (Verdict w = ReadColumn(from.device_flag(), "device_flag", rows,
                               &to->device_flag.emplace())) {
      return w;
    }
  }
  if (Verdict w = ReadDigest(from.digest(), "digest", rows, &to->digest)) {
    return w;
  }
  if (from.exponents_size() > 0) {
    if (Verdict w = ReadExponents(from, rows, LeftOf(from, *to), to)) return w;
  }
  return ReadSketches(from.sketches(), rows, &to->sketches);
}

}  // namespace

Verdict ReadOps(const Batch& from, const OpShapes* shapes, OpColumns* to) {
  const size_t rows = from.op_deltas_size();
  if (rows > limits::kOpsPerBatch) {
    return Complaint{
        fmt::format("{} op statuses in one batch, at most {} are taken; send "
                    "more batches",
                    rows, limits::kOpsPerBatch),
        "batch_records"};
  }
  if (Verdict w = ReadGroups(from, rows, to)) return w;
  if (Verdict w = ReadOpIndices(from, shapes, &to->op)) return w;
  if (Verdict w = ReadSlots(from, rows, &to->slot)) return w;
  if (Verdict w = ReadElements(from, shapes, rows, to)) return w;
  if (Verdict w = ReadStatistics(from, rows, to)) return w;
  to->request_id = from.request_id();
  return std::nullopt;
}

namespace {

void WriteGroups(const OpColumns& from, Batch* to) {
  std::vector<int64_t> steps;
  std::vector<Time> times;
  uint32_t begin = 0;
  for (const OpGroup& group : from.groups) {
    steps.push_back(group.step);
    times.push_back(group.time);
    to->add_step_rows(group.end - begin);
    begin = group.end;
  }
  WriteDeltas(steps, to->mutable_step_deltas());
  WriteDeltas(times, to->mutable_time_us_deltas());
}

void WriteSlots(const std::vector<Slot>& from, Batch* to) {
  const bool all_same = std::adjacent_find(from.begin(), from.end(),
                                           std::not_equal_to<>()) == from.end();
  const size_t n = all_same ? 1 : from.size();
  for (size_t row = 0; row < n; ++row) {
    to->add_slots(static_cast<v1::Slot>(
        from.empty() ? 1 : static_cast<int>(from[row]) + 1));
  }
}

}  // namespace

void WriteOps(const OpColumns& from, Batch* to) {
  const size_t rows = from.rows();
  WriteGroups(from, to);
  to->mutable_op_deltas()->Reserve(static_cast<int>(rows));
  int64_t before = 0;
  for (const uint32_t op : from.op) {
    to->mutable_op_deltas()->AddAlreadyReserved(
        static_cast<int32_t>(op - before));
    before = op;
  }
  WriteSlots(from.slot, to);
  if (std::any_of(from.elements.begin(), from.elements.end(),
                  [](uint64_t n) { return n != 0; })) {
    to->mutable_elements()->mutable_counts()->Assign(from.elements.begin(),
                                                     from.elements.end());
  }
  for (int c = 0; c < kOpCounts; ++c) {
    const auto& access = kCounts[c];
    if (from.count[c]) WriteColumn(*from.count[c], rows, (to->*access.add)());
  }
  for (int k = 0; k < kOpStats; ++k) {
    const auto& access = kStats[k];
    if (from.stat[k]) WriteColumn(*from.stat[k], (to->*access.add)());
  }
  if (from.device_flag) {
    WriteColumn(*from.device_flag, rows, to->mutable_device_flag());
  }
  to->mutable_digest()->Assign(from.digest.begin(), from.digest.end());
  for (const ExponentCounts& exponents : from.exponents) {
    v1::ExponentCounts* one = to->add_exponents();
    one->set_row(exponents.row);
    one->set_first(exponents.first);
    one->mutable_counts()->Assign(exponents.counts.begin(),
                                  exponents.counts.end());
  }
  if (!from.sketches.rows.empty()) {
    v1::Sketches* sketches = to->mutable_sketches();
    sketches->mutable_rows()->Assign(from.sketches.rows.begin(),
                                     from.sketches.rows.end());
    sketches->mutable_values()->Assign(from.sketches.values.begin(),
                                       from.sketches.values.end());
    const size_t told = from.sketches.rows.size();
    if (from.sketches.nan) {
      WriteColumn(*from.sketches.nan, told, sketches->mutable_nan());
    }
    if (from.sketches.inf) {
      WriteColumn(*from.sketches.inf, told, sketches->mutable_inf());
    }
  }
  to->set_request_id(from.request_id);
}

}  // namespace nanwatch
