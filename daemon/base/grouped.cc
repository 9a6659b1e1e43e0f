#include "base/grouped.h"

namespace nanwatch {

std::string Grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

std::string Counted(uint64_t count, std::string_view noun) {
  return Grouped(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace nanwatch
