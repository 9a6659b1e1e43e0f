#include "app/dump_judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/limits.h"

namespace nanwatch {
namespace {

void SetAbsent(size_t row, Bitmap* absent) {
  absent->resize(std::max(absent->size(), row / 8 + 1));
  (*absent)[row / 8] |= static_cast<uint8_t>(1u << row % 8);
}

// The statuses of some tensors of one step, row by row.
class DumpRows {
 public:
  explicit DumpRows(int64_t step) : step_(step) {}

  void Add(const ComparedTensor& tensor) {
    const size_t row = AddRow(tensor.op, tensor.slot, tensor.elements);
    Count(OpCount::kNan, row, tensor.nan);
    // A dump does not say of which sign they are.
    Count(OpCount::kPosInf, row, tensor.inf);
    const auto& of = tensor.statistics;
    const bool known =
        of && of->min && of->max && std::isfinite(*of->min - *of->max);
    AddLargest(row, known ? std::optional(std::max(std::fabs(*of->min),
                                                   std::fabs(*of->max)))
                          : std::nullopt);
  }

  // An op in which the device found an overflow.
  void AddFlagged(uint32_t op) {
    const size_t row = AddRow(op, Slot::kOutput, 0);
    Count(OpCount::kNan, row, std::nullopt);
    Count(OpCount::kPosInf, row, std::nullopt);
    AddLargest(row, std::nullopt);
    if (!columns_.device_flag) columns_.device_flag.emplace();
    columns_.device_flag->rows.push_back(static_cast<uint32_t>(row));
    columns_.device_flag->counts.push_back(1);
  }

  size_t size() const { return columns_.rows(); }
  OpColumns Take() { return std::exchange(columns_, {}); }

 private:
  size_t AddRow(uint32_t op, Slot slot, uint64_t elements) {
    columns_.AddGroup(step_, Time{});
    columns_.op.push_back(op);
    columns_.slot.push_back(slot);
    columns_.elements.push_back(elements);
    return columns_.rows() - 1;
  }

  void Count(OpCount count, size_t row, std::optional<uint64_t> value) {
    auto& column = columns_.count[static_cast<int>(count)];
    if (!column) column.emplace();
    if (!value) {
      SetAbsent(row, &column->absent);
    } else if (*value > 0) {
      column->rows.push_back(static_cast<uint32_t>(row));
      column->counts.push_back(*value);
    }
  }

  void AddLargest(size_t row, std::optional<double> value) {
    auto& column = columns_.stat[static_cast<int>(OpStat::kAbsMax)];
    if (!column) column.emplace();
    column->values.push_back(static_cast<float>(value.value_or(0)));
    if (!value) SetAbsent(row, &column->absent);
  }

  const int64_t step_;
  OpColumns columns_;
};

}  // namespace

RecordVerdict JudgeDump(const ComparedRun& run, const std::string& run_id,
                        const RulesInForce& rules) {
  RecordJudge::Options options;
  options.run_id = run_id;
  options.rules = rules;
  options.describe = [&run](int32_t) { return run.description; };
  RecordJudge judge(std::move(options));
  OpNames names;
  names.ops = run.ops;
  std::map<std::string, uint32_t> flagged;  // that no tensor names
  for (const DeviceOverflow& overflow : run.overflows) {
    const auto place = static_cast<uint32_t>(names.ops.size());
    if (!flagged.try_emplace(overflow.op, place).second) continue;
    OpName op;
    op.name = overflow.op;
    op.type = overflow.unit;
    names.ops.push_back(std::move(op));
  }
  // In the order in which they were made, if anybody knows it.
  for (size_t i = 0; run.ordered && i < run.ops.size(); ++i) {
    if (names.ops[i].order < 0) names.ops[i].order = static_cast<int32_t>(i);
  }
  judge.NameOps(0, std::move(names));
  std::map<int64_t, std::vector<uint32_t>> flags;
  for (const DeviceOverflow& over : run.overflows) {
    flags[over.step].push_back(flagged.at(over.op));
  }
  auto tensor = run.tensors.begin();  // by step
  const auto end = run.tensors.end();
  while (tensor != end || !flags.empty()) {
    const int64_t step = flags.empty() ? tensor->step
                         : tensor == end
                             ? flags.begin()->first
                             : std::min(tensor->step, flags.begin()->first);
    DumpRows rows(step);
    for (; tensor != end && tensor->step == step; ++tensor) {
      if (rows.size() == limits::kOpsPerBatch) judge.TakeOps(0, rows.Take());
      rows.Add(*tensor);
    }
    for (const uint32_t op : flags[step]) {
      if (rows.size() == limits::kOpsPerBatch) judge.TakeOps(0, rows.Take());
      rows.AddFlagged(op);
    }
    flags.erase(step);
    judge.TakeOps(0, rows.Take());
    StepRecord record;
    record.step = step;
    judge.Take(0, "", record);
  }
  return judge.Conclude();
}

}  // namespace nanwatch
