// What the columns of steps and of ops have in common. A row is a pointer to a
// struct of nanwatch.h with a `present` mask.

#ifndef NANWATCH_CLIENT_COLUMNS_H_
#define NANWATCH_CLIENT_COLUMNS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace nanwatch_client {

// Bytes beyond the end of a bitmap read as 0, so it grows only as needed.
inline void SetBit(size_t row, std::string* bits) {
  if (bits->size() <= row / 8) bits->resize(row / 8 + 1);
  (*bits)[row / 8] |= static_cast<char>(1 << (row % 8));
}

// Sums of differences wrap around on both sides, whatever a caller pushes.
inline int64_t WrappingDelta(int64_t value, int64_t* previous) {
  const uint64_t delta =
      static_cast<uint64_t>(value) - static_cast<uint64_t>(*previous);
  *previous = value;
  return static_cast<int64_t>(delta);
}

template <typename Rows>
bool AnyPresent(const Rows& rows, uint32_t bit) {
  for (const auto* row : rows) {
    if ((row->present & bit) != 0) return true;
  }
  return false;
}

// DoubleColumn or FloatColumn: a value a row, 0 and a bit where absent.
template <typename Rows, typename Member, typename Column>
void EncodeValues(const Rows& rows, uint32_t bit, Member value,
                  Column* column) {
  column->mutable_values()->Reserve(static_cast<int>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool present = (rows[i]->present & bit) != 0;
    column->add_values(present ? rows[i]->*value : 0);
    if (!present) SetBit(i, column->mutable_absent());
  }
}

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_COLUMNS_H_
