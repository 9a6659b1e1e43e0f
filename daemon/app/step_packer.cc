#include "app/step_packer.h"

#include <algorithm>
#include <utility>

namespace nanwatch {
namespace {

// Bit `row` of a bitmap that had `row` bits.
void AddBit(bool value, size_t row, Bitmap* bits) {
  if (bits->size() <= row / 8) bits->resize(row / 8 + 1);
  if (value) (*bits)[row / 8] |= static_cast<uint8_t>(1u << (row % 8));
}

// A column that begins at `row`: absent in the rows before.
Bitmap AbsentBefore(size_t row) {
  Bitmap absent((row + 7) / 8);
  for (size_t i = 0; i < row; ++i) AddBit(true, i, &absent);
  return absent;
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
  columns_.step.push_back(record.step);
  columns_.time.push_back(time);
  columns_.optimizer.push_back(OptimizerIndex(optimizer, &columns_.optimizers));
  for (int f = 0; f < kStepFields; ++f) {
    const bool has = record.has(static_cast<StepField>(f));
    std::optional<Column>& column = columns_.field[f];
    if (!column) {
      if (!has) continue;
      column.emplace();
      column->values.resize(row);
      column->absent = AbsentBefore(row);
    }
    column->values.push_back(has ? record.value[f] : 0);
    AddBit(!has, row, &column->absent);
  }
  for (int f = 0; f < kStepFlags; ++f) {
    const bool has = (record.flags_present >> f & 1) != 0;
    std::optional<FlagColumn>& column = columns_.flag[f];
    if (!column) {
      if (!has) continue;
      column.emplace();
      column->values.resize((row + 7) / 8);
      column->absent = AbsentBefore(row);
    }
    AddBit(has && record.is(static_cast<StepFlag>(f)), row, &column->values);
    AddBit(!has, row, &column->absent);
  }
}

StepColumns StepPacker::Take() { return std::exchange(columns_, {}); }

}  // namespace nanwatch
