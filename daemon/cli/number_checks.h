// What the command line takes for a number, with sentences that a person can
// read.

#ifndef NANWATCH_CLI_NUMBER_CHECKS_H_
#define NANWATCH_CLI_NUMBER_CHECKS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/option.h"

namespace nanwatch {

// "90s", "5m", "2h", "1d" in seconds. A number without a unit could be any of
// them, so it is none; nullopt, too, for what is not positive or passes ten
// years.
std::optional<int64_t> ParseSpan(std::string_view text);

// Attempts and ranks: 0 and above.
OptionCheck WholeNumber();
// Above 0 and finite.
OptionCheck PositiveNumber();
// A span, which becomes its seconds.
OptionCheck Span();
// `low` and `high` are in it.
OptionCheck Between(int32_t low, int32_t high);
OptionCheck Between(double low, double high);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_NUMBER_CHECKS_H_
