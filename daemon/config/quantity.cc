#include "config/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nanwatch {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};
// Largest first: showing takes the first that divides.
constexpr Unit kTimes[] = {
    {"d", 86400000000}, {"h", 3600000000}, {"m", 60000000},
    {"s", 1000000},     {"ms", 1000},      {"us", 1},
};
constexpr Unit kSizes[] = {
    {"TiB", 1ull << 40}, {"GiB", 1ull << 30},   {"MiB", 1ull << 20},
    {"KiB", 1ull << 10}, {"TB", 1000000000000}, {"GB", 1000000000},
    {"MB", 1000000},     {"kB", 1000},          {"B", 1},
};
constexpr uint64_t kLongest = 100ull * 366 * 86400000000;  // 100 years in us
constexpr uint64_t kLargest = 1ull << 62;

// Takes "NUMBER UNIT" off the front of `*text`. nullopt: it does not begin so.
template <size_t N>
std::optional<uint64_t> TakeTerm(const Unit (&units)[N], uint64_t most,
                                 std::string_view* text) {
  uint64_t number = 0;
  const auto [stop, error] =
      std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  const std::string_view name = text->substr(
      0, std::min(text->find_first_of("0123456789"), text->size()));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number > most / unit.factor) return std::nullopt;
    text->remove_prefix(name.size());
    return number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t sum = 0;
  while (!text.empty()) {
    const auto term = TakeTerm(kTimes, kLongest, &text);
    if (!term || sum + *term > kLongest) return std::nullopt;
    sum += *term;
  }
  return Duration(static_cast<int64_t>(sum));
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  const auto size = TakeTerm(kSizes, kLargest, &text);
  if (!size || !text.empty()) return std::nullopt;
  return size;
}

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::string ShowDuration(Duration duration) {
  auto rest = static_cast<uint64_t>(duration.count());
  if (rest == 0) return "0s";
  std::string text;
  for (const Unit& unit : kTimes) {
    if (rest < unit.factor) continue;
    text += std::to_string(rest / unit.factor);
    text += unit.name;
    rest %= unit.factor;
  }
  return text;
}

std::string ShowSize(uint64_t bytes) {
  for (const Unit& unit : kSizes) {
    if (bytes == 0 || bytes % unit.factor != 0) continue;
    return std::to_string(bytes / unit.factor) + std::string(unit.name);
  }
  return "0B";
}

std::string ShowNumber(double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return std::string(digits, end);
}

}  // namespace nanwatch
