// Durations ("30s", "1h30m") and sizes ("64MiB") as people write them.

#ifndef NANWATCH_CONFIG_QUANTITY_H_
#define NANWATCH_CONFIG_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace nanwatch {

// Whole numbers with us, ms, s, m, h or d; several in a row add up. nullopt:
// not that, or more than 100 years.
std::optional<Duration> ParseDuration(std::string_view text);
// A whole number with B, KiB, MiB, GiB, TiB, kB, MB, GB or TB.
std::optional<uint64_t> ParseSize(std::string_view text);
// A finite number and nothing else.
std::optional<double> ParseNumber(std::string_view text);

// The shortest that reads back the same: "90s" is "1m30s".
std::string ShowDuration(Duration duration);
std::string ShowSize(uint64_t bytes);
std::string ShowNumber(double number);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_QUANTITY_H_
