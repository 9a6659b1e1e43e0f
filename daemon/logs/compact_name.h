// Names of columns without what separates their words.

#ifndef NANWATCH_LOGS_COMPACT_NAME_H_
#define NANWATCH_LOGS_COMPACT_NAME_H_

#include <array>
#include <cstddef>
#include <string_view>

namespace nanwatch {

constexpr size_t kColumnNameMax = 64;  // bytes; no usual name is longer
using NameRoom = std::array<char, kColumnNameMax>;

// Returns `name` in lower case, its letters and digits alone, in `*out`; empty:
// it is longer.
std::string_view Compact(std::string_view name, NameRoom* out);

struct CoreName {
  std::string_view text;  // compact
  bool mean = false;      // of several records, as it says
  bool numbered = false;  // "return_mean_10", "loss_1"
};

// Returns the name without what says how its number was taken:
// "return_mean_10", "loss [nats]", "total (avg)". Its text is in `*out`.
CoreName CoreOf(std::string_view name, NameRoom* out);

// Returns the name of an evaluation's number without what says so, and without
// numbers, "mse" of "mse_holdout"; empty: it is none's. Its text is in `*out`.
std::string_view CoreOfEvaluation(std::string_view name, NameRoom* out);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COMPACT_NAME_H_
