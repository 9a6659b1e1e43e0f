#include "cli/number_checks.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace nanwatch {
namespace {

constexpr int64_t kLongestSeconds = 10 * 365 * 24 * 3600ll;

int64_t SecondsOf(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return 0;
  }
}

// The whole text as a number, as a value of the option would be read: a whole
// one may be hexadecimal or octal.
bool TakeNumber(const std::string& text, int32_t* number) {
  char* end = nullptr;
  const long long read = std::strtoll(text.c_str(), &end, 0);
  *number = static_cast<int32_t>(read);
  return !text.empty() && end == text.data() + text.size() && *number == read;
}

bool TakeNumber(const std::string& text, double* number) {
  char* end = nullptr;
  *number = static_cast<double>(std::strtold(text.c_str(), &end));
  return !text.empty() && end == text.data() + text.size();
}

template <typename Number>
OptionCheck WithBounds(Number low, Number high, std::string shape) {
  return {[low, high](std::string& text) -> std::string {
            Number number = 0;
            if (TakeNumber(text, &number) && !(number < low || number > high)) {
              return "";
            }
            return fmt::format("Value {} not in range {} to {}", text,
                               std::to_string(low), std::to_string(high));
          },
          std::move(shape)};
}

}  // namespace

std::optional<int64_t> ParseSpan(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const int64_t unit = SecondsOf(text.back());
  text.remove_suffix(1);
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (unit == 0 || error != std::errc() || at != end || number <= 0 ||
      number > kLongestSeconds / unit) {
    return std::nullopt;
  }
  return number * unit;
}

OptionCheck WholeNumber() {
  return {[](std::string& text) -> std::string {
            int32_t number = 0;
            const char* end = text.data() + text.size();
            const auto [at, error] = std::from_chars(text.data(), end, number);
            if (error == std::errc() && at == end && number >= 0) return "";
            return fmt::format("'{}' is not a whole number from 0 to {}", text,
                               INT32_MAX);
          },
          "0 or more"};
}

OptionCheck PositiveNumber() {
  return {[](std::string& text) -> std::string {
            char* end = nullptr;
            const double number = std::strtod(text.c_str(), &end);
            if (end != text.c_str() && *end == '\0' && std::isfinite(number) &&
                number > 0) {
              return "";
            }
            return fmt::format("'{}' is not a number above 0", text);
          },
          "above 0"};
}

OptionCheck Span() {
  return {
      [](std::string& text) -> std::string {
        const std::optional<int64_t> seconds = ParseSpan(text);
        if (!seconds) {
          return fmt::format(
              "'{}' is not a time: give a whole number and its unit, s, m, h "
              "or d, as in 90s or 2h; ten years at most",
              text);
        }
        text = std::to_string(*seconds);
        return "";
      },
      "NUMBER[s|m|h|d]"};
}

OptionCheck Between(int32_t low, int32_t high) {
  return WithBounds(low, high, fmt::format("INT in [{} - {}]", low, high));
}

OptionCheck Between(double low, double high) {
  return WithBounds(low, high,
                    fmt::format("FLOAT in [{:g} - {:g}]", low, high));
}

}  // namespace nanwatch
