// Whole numbers as people read them.

#ifndef NANWATCH_BASE_GROUPED_H_
#define NANWATCH_BASE_GROUPED_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace nanwatch {

// 1234567 as 1,234,567.
std::string Grouped(uint64_t value);
// "1 update", "1,234 updates".
std::string Counted(uint64_t count, std::string_view noun);

}  // namespace nanwatch

#endif  // NANWATCH_BASE_GROUPED_H_
