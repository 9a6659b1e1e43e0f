#include "wire/narrow_columns.h"

#include <spdlog/fmt/fmt.h>

#include <bit>
#include <cstdint>
#include <string>

#include "model/step.h"
#include "wire/step_codec.h"

namespace nanwatch {
namespace {

using Numbers = google::protobuf::RepeatedField<double>;

constexpr size_t kPlanes = sizeof(float);

bool AreNarrow(const Numbers& numbers) {
  bool same = true;
  for (const double number : numbers) {
    const double back = static_cast<float>(number);
    same &= std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(number);
  }
  return same;
}

// Bytes of one weight lie side by side: those of sign and exponent hardly
// differ from row to row, and compress.
void PutPlanes(const Numbers& numbers, std::string* planes) {
  const size_t rows = numbers.size();
  planes->resize(kPlanes * rows);
  char* out = planes->data();
  for (size_t row = 0; row < rows; ++row) {
    const auto bits = std::bit_cast<uint32_t>(
        static_cast<float>(numbers[static_cast<int>(row)]));
    for (size_t plane = 0; plane < kPlanes; ++plane) {
      out[plane * rows + row] = static_cast<char>(bits >> (8 * plane));
    }
  }
}

// REQUIRES: whole rows.
void TakePlanes(const std::string& planes, Numbers* numbers) {
  const size_t rows = planes.size() / kPlanes;
  numbers->Resize(static_cast<int>(rows), 0);
  double* const to = numbers->mutable_data();
  const auto byte = [&](size_t plane, size_t row) -> uint32_t {
    return static_cast<uint8_t>(planes[plane * rows + row]);
  };
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t bits = byte(0, row) | byte(1, row) << 8 |
                          byte(2, row) << 16 | byte(3, row) << 24;
    to[row] = std::bit_cast<float>(bits);
  }
}

}  // namespace

void NarrowColumns(v1::StoredEvent* event) {
  for (int f = 0; f < kStepFields; ++f) {
    v1::DoubleColumn* column =
        ColumnOf(static_cast<StepField>(f), event->mutable_steps());
    if (column == nullptr || column->values().empty() ||
        !AreNarrow(column->values())) {
      continue;
    }
    v1::StoredNarrow* narrow = event->add_narrow();
    narrow->set_field(f);
    PutPlanes(column->values(), narrow->mutable_planes());
    column->clear_values();
  }
}

Verdict WidenColumns(v1::StoredEvent* event) {
  for (const v1::StoredNarrow& narrow : event->narrow()) {
    v1::DoubleColumn* column =
        narrow.field() < kStepFields && event->has_steps()
            ? ColumnOf(static_cast<StepField>(narrow.field()),
                       event->mutable_steps())
            : nullptr;
    if (column == nullptr || !column->values().empty() ||
        narrow.planes().size() % kPlanes != 0) {
      return Complaint{fmt::format("{} bytes of column {}, which has no place "
                                   "for them",
                                   narrow.planes().size(), narrow.field()),
                       ""};
    }
    TakePlanes(narrow.planes(), column->mutable_values());
  }
  return std::nullopt;
}

}  // namespace nanwatch
