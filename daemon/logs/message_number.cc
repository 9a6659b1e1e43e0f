#include "logs/message_number.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// End of a number in digits that begins at `at`; `at` itself: there is none.
size_t NumberEnd(std::string_view text, size_t at) {
  size_t end = BehindDigits(text, at);
  if (end == at) return at;
  if (end < text.size() && text[end] == '.') end = BehindDigits(text, end + 1);
  return BehindExponent(text, end);
}

// Another message begins behind a number that ends at `end`, with its date:
// "to: 64.02021-06-01 11:00". Where the number ends then.
size_t WithoutYear(std::string_view text, size_t begin, size_t end) {
  constexpr size_t kYear = 4;
  const std::string_view date = text.substr(end);
  const bool dated = date.size() >= 6 && date[0] == '-' && IsDigit(date[1]) &&
                     IsDigit(date[2]) && date[3] == '-' && IsDigit(date[4]) &&
                     IsDigit(date[5]);
  if (!dated || end - begin <= kYear || text.substr(end - kYear, 2) != "20") {
    return end;
  }
  return end - kYear;
}

}  // namespace

std::optional<MessageNumber> ReadMessageNumber(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size() && text[begin] == ' ') ++begin;
  const size_t sign = begin < text.size() && text[begin] == '-' ? 1 : 0;
  size_t end = NumberEnd(text, begin + sign);
  if (end == begin + sign) {
    const std::string_view word = text.substr(begin + sign, 3);
    if (word != "nan" && word != "inf") return std::nullopt;
    end += 3;
  }
  end = WithoutYear(text, begin + sign, end);
  MessageNumber number;
  number.text = text.substr(begin, end - begin);
  number.rest = text.substr(end);
  const std::optional<double> value = WholeNumber(number.text);
  if (!value) return std::nullopt;
  number.value = *value;
  return number;
}

bool IsTorn(std::string_view printed, double expected) {
  if (!std::isfinite(expected)) return false;
  const double size = std::fabs(expected);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[64];
  const auto [end, error] = std::to_chars(
      text, text + sizeof text, expected,
      plain ? std::chars_format::fixed : std::chars_format::scientific);
  if (error != std::errc()) return false;
  const std::string_view whole(text, static_cast<size_t>(end - text));
  return printed.size() < whole.size() && whole.starts_with(printed);
}

}  // namespace nanwatch
