#include "app/step_packer.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace nanwatch {
namespace {

// What most batches have.
constexpr size_t kUsualRows = 128;

// Sets the bits from `begin` to before `end` of a bitmap that grows to `end`.
void AddBits(size_t begin, size_t end, Bitmap* bits) {
  if (begin == end) return;
  const size_t bytes = (end + 7) / 8;
  if (bits->size() < bytes) bits->resize(bytes);
  for (size_t row = begin; row < end; ++row) {
    (*bits)[row / 8] |= static_cast<uint8_t>(1u << (row % 8));
  }
}

// Bits that are not there are not set; but a batch has all of them or none.
void WidenTo(size_t rows, Bitmap* bits) {
  if (!bits->empty()) bits->resize((rows + 7) / 8);
}

uint8_t OptimizerIndex(std::string_view name, std::vector<std::string>* names) {
  const auto found = std::find(names->begin(), names->end(), name);
  if (found != names->end())
    return static_cast<uint8_t>(found - names->begin());
  names->emplace_back(name);
  return static_cast<uint8_t>(names->size() - 1);
}

}  // namespace

void StepPacker::Add(const StepRecord& record, Time time,
                     std::string_view optimizer) {
  const size_t row = columns_.rows();
  if (row == 0) {
    columns_.step.reserve(kUsualRows);
    columns_.time.reserve(kUsualRows);
    columns_.optimizer.reserve(kUsualRows);
  }
  columns_.step.push_back(record.step);
  columns_.time.push_back(time);
  columns_.optimizer.push_back(OptimizerIndex(optimizer, &columns_.optimizers));
  for (uint32_t left = record.present; left != 0; left &= left - 1) {
    const int f = std::countr_zero(left);
    AddValue(row, record.value[f], &columns_.field[f]);
  }
  for (uint32_t left = record.flags_present; left != 0; left &= left - 1) {
    const int f = std::countr_zero(left);
    AddFlag(row, record.is(static_cast<StepFlag>(f)), f);
  }
}

void StepPacker::AddValue(size_t row, double value,
                          std::optional<Column>* column) {
  if (!*column) {
    column->emplace();
    (*column)->values.reserve(kUsualRows);
  }
  FillUp(row, &**column);
  (*column)->values.push_back(value);
}

void StepPacker::AddFlag(size_t row, bool value, int flag) {
  std::optional<FlagColumn>& column = columns_.flag[flag];
  if (!column) column.emplace();
  AddBits(flag_rows_[flag], row, &column->absent);
  flag_rows_[flag] = row + 1;
  if (column->values.size() <= row / 8) column->values.resize(row / 8 + 1);
  if (value) AddBits(row, row + 1, &column->values);
}

// Absent in the rows that the column does not have yet, up to before `rows`.
void StepPacker::FillUp(size_t rows, Column* column) {
  AddBits(column->values.size(), rows, &column->absent);
  column->values.resize(rows);
}

StepColumns StepPacker::Take() {
  const size_t rows = columns_.rows();
  for (std::optional<Column>& column : columns_.field) {
    if (!column) continue;
    FillUp(rows, &*column);
    WidenTo(rows, &column->absent);
  }
  for (int f = 0; f < kStepFlags; ++f) {
    std::optional<FlagColumn>& column = columns_.flag[f];
    if (!column) continue;
    AddBits(flag_rows_[f], rows, &column->absent);
    WidenTo(rows, &column->absent);
    column->values.resize((rows + 7) / 8);
  }
  flag_rows_ = {};
  return std::exchange(columns_, {});
}

}  // namespace nanwatch
