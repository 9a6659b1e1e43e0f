// What stands behind the number of a step: how many there are, or a bar.

#ifndef NANWATCH_LOGS_BAR_VALUE_H_
#define NANWATCH_LOGS_BAR_VALUE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {

// "/4468]", of a step of an epoch.
inline std::optional<int64_t> WholeBehind(std::string_view text) {
  Scan scan(text, 1);
  return ReadCount(&scan);
}

// Behind the percentage of a progress bar, "Steps:  6%|#  | 180/3000 [": a
// share of something is none of our numbers.
inline std::optional<double> PartOfBar(std::string_view text) {
  Scan scan(text);
  if (!scan.Skip("%|") || !scan.To("| ")) return std::nullopt;
  const std::optional<Ratio> bar = ReadRatio(&scan);
  if (!bar) return std::nullopt;
  return static_cast<double>(bar->part);
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_BAR_VALUE_H_
