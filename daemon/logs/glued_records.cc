#include "logs/glued_records.h"

#include <algorithm>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {

// What stands before the first number begins each of them, right behind the
// number that ends the one before.
size_t EndOfGluedRecord(std::string_view line) {
  constexpr std::string_view kCounters[] = {"poch", "POCH", "tep", "ter"};
  constexpr size_t kMost = 24;  // bytes of it; ours
  const auto digit = std::find_if(
      line.begin(), line.begin() + std::min(line.size(), kMost), IsDigit);
  const std::string_view head(line.begin(), digit);
  if (head.empty() || !IsLetter(head[0]) || !HasOneOf(head, kCounters)) {
    return line.npos;
  }
  for (size_t at = line.find(head, head.size()); at != line.npos;
       at = line.find(head, at + 1)) {
    const size_t behind = at + head.size();
    const bool counts = behind < line.size() && IsDigit(line[behind]);
    if (IsDigit(line[at - 1]) && counts) return at;
  }
  return line.npos;
}

}  // namespace nanwatch
