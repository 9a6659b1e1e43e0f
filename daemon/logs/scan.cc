#include "logs/scan.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace nanwatch {
namespace {

bool IsWordCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

// Adds digits, as many as there are before `end`, to `*number`; behind them.
const char* ReadDigits(const char* at, const char* end, uint64_t* number) {
  uint64_t sum = *number;
  for (; at != end && IsDigit(*at); ++at) {
    sum = sum * 10 + static_cast<uint64_t>(*at - '0');
  }
  *number = sum;
  return at;
}

// Length of the number at the start of `text`, where it is of so few digits,
// and no exponent, that it is a quotient of numbers that a double holds; else
// 0. Most numbers of logs are.
size_t PlainNumberLength(std::string_view text, double* value) {
  static constexpr double kTens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
  constexpr size_t kDigits = std::size(kTens);
  const char* const begin = text.data();
  const char* const end = begin + std::min(text.size(), kDigits + 1);
  uint64_t digits = 0;
  const char* at = ReadDigits(begin, end, &digits);
  if (at == begin) return 0;
  size_t decimals = 0;
  if (at != end && *at == '.') {
    const char* const point = ++at;
    at = ReadDigits(point, end, &digits);
    decimals = static_cast<size_t>(at - point);
  }
  if (at == end ? text.size() > kDigits : IsWordCharacter(*at)) return 0;
  *value = static_cast<double>(digits) / kTens[decimals];
  return static_cast<size_t>(at - begin);
}

// Length of the number at the start of `text`, 0 if there is none.
size_t NumberLength(std::string_view text, double* value) {
  if (const size_t plain = PlainNumberLength(text, value)) return plain;
  const size_t sign = !text.empty() && text[0] == '+' ? 1 : 0;
  const char* begin = text.data() + sign;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, *value);
  if (error == std::errc::result_out_of_range) {
    // Too small or too large for a double: said as it is printed.
    *value = *begin == '-' ? -0.0 : 0.0;
    for (const char* c = begin; c != stop; ++c) {
      const bool exponent = *c == 'e' || *c == 'E';
      if (exponent && c + 1 != stop && c[1] != '-') *value = 1e308 * 10;
    }
  } else if (error != std::errc()) {
    return 0;
  }
  if (stop != end && IsWordCharacter(*stop)) return 0;
  return static_cast<size_t>(stop - text.data());
}

}  // namespace

bool Scan::To(std::string_view literal) {
  const size_t found = line_.find(literal, at_);
  if (found == std::string_view::npos) return false;
  at_ = found + literal.size();
  return true;
}

bool Scan::Skip(std::string_view literal) {
  if (!rest().starts_with(literal)) return false;
  at_ += literal.size();
  return true;
}

void Scan::SkipBlanks() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

std::string_view Scan::Until(char end) {
  const size_t found = line_.find(end, at_);
  const size_t stop = found == std::string_view::npos ? line_.size() : found;
  const std::string_view text = line_.substr(at_, stop - at_);
  at_ = found == std::string_view::npos ? stop : stop + 1;
  return text;
}

std::optional<Scan::Printed> Scan::PrintedNumber() {
  size_t at = at_;
  while (at < line_.size() && (line_[at] == ' ' || line_[at] == '\t')) ++at;
  double value = 0;
  const size_t length = NumberLength(line_.substr(at), &value);
  if (length == 0) return std::nullopt;
  at_ = at + length;
  return Printed{value, line_.substr(at, length)};
}

std::optional<double> Scan::Number() {
  const std::optional<Printed> printed = PrintedNumber();
  if (!printed) return std::nullopt;
  return printed->value;
}

std::optional<int64_t> Scan::Integer() {
  size_t at = at_;
  while (at < line_.size() && (line_[at] == ' ' || line_[at] == '\t')) ++at;
  constexpr ptrdiff_t kDigits = 18;  // that cannot overflow
  const char* const begin = line_.data() + at;
  const char* const end = line_.data() + line_.size();
  uint64_t digits = 0;
  const char* stop =
      ReadDigits(begin, begin + std::min(end - begin, kDigits), &digits);
  auto value = static_cast<int64_t>(digits);
  // None, a sign, or very many digits.
  if (stop == begin || (stop != end && IsDigit(*stop))) {
    const auto result = std::from_chars(begin, end, value);
    if (result.ec != std::errc()) return std::nullopt;
    stop = result.ptr;
  }
  if (stop != end && IsWordCharacter(*stop)) return std::nullopt;
  at_ = static_cast<size_t>(stop - line_.data());
  return value;
}

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<int64_t> AsCount(std::optional<double> number) {
  if (!number || !(*number >= 0 && *number <= 1e15)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<double> WholeNumber(std::string_view text) {
  text = TrimBlanks(text);
  double value = 0;
  const size_t length = NumberLength(text, &value);
  if (length == 0 || length != text.size()) return std::nullopt;
  return value;
}

}  // namespace nanwatch
