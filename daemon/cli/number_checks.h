// What the command line takes for a number, with sentences that a person can
// read: CLI11's own PositiveNumber prints the largest double in full.

#ifndef NANWATCH_CLI_NUMBER_CHECKS_H_
#define NANWATCH_CLI_NUMBER_CHECKS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

// "90s", "5m", "2h", "1d" in seconds. A number without a unit could be any of
// them, so it is none; nullopt, too, for what is not positive or passes ten
// years.
std::optional<int64_t> ParseSpan(std::string_view text);

// For Option::check: attempts and ranks, 0 and above.
CLI::Validator WholeNumber();
// Above 0 and finite.
CLI::Validator PositiveNumber();
// For Option::transform: a span becomes its seconds.
CLI::Validator Span();

}  // namespace nanwatch

#endif  // NANWATCH_CLI_NUMBER_CHECKS_H_
