#include "logs/decimal_commas.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// Where the digits and points around `at` end; 0: they are no date, as
// "03.04.2024" is.
size_t EndOfDate(std::string_view line, size_t at) {
  const size_t begin = line.find_last_not_of("0123456789.", at) + 1;
  const size_t end =
      std::min(line.find_first_not_of("0123456789.", at), line.size());
  const std::string_view run = line.substr(begin, end - begin);
  return std::count(run.begin(), run.end(), '.') > 1 ? end : 0;
}

// Returns the next comma of `line` from `at` on that stands between digits, or
// point, where `points`; its size: there is none.
size_t NextBetweenDigits(std::string_view line, size_t at, bool points) {
  for (at = std::max<size_t>(at, 1); at + 1 < line.size(); ++at) {
    const char c = line[at];
    const bool sign = c == ',' || (points && c == '.');
    if (sign && IsDigit(line[at - 1]) && IsDigit(line[at + 1])) return at;
  }
  return line.size();
}

// Returns whether a comma stands between digits. Most lines have none such: the
// loop without a branch is a few instructions of a vector unit.
bool HasCommaBetweenDigits(std::string_view line) {
  const auto digit = [](char c) {
    return static_cast<uint8_t>(static_cast<uint8_t>(c - '0') < 10);
  };
  uint8_t any = 0;
  for (size_t i = 2; i < line.size(); ++i) {
    any |= static_cast<uint8_t>(line[i - 1] == ',') & digit(line[i - 2]) &
           digit(line[i]);
  }
  return any != 0;
}

// The digits on both sides of a comma.
struct Parts {
  size_t begin;
  size_t end;
};
Parts PartsAround(std::string_view line, size_t comma) {
  Parts parts{.begin = comma, .end = BehindDigits(line, comma + 1)};
  while (parts.begin > 0 && IsDigit(line[parts.begin - 1])) --parts.begin;
  return parts;
}

// "12:01:07,250".
bool IsOfClock(std::string_view line, const Parts& parts) {
  return parts.begin > 1 && line[parts.begin - 1] == ':' &&
         IsDigit(line[parts.begin - 2]);
}

// What a number says of the commas of its line; where several speak, the last
// of these has the word.
enum class Commas {
  kNone,
  kMixed,      // kDecimal, and another number has a point
  kPerhaps,    // a pair in brackets; a date or ratio follows
  kShort,      // "2,31" is decimal, or a list of two
  kThousands,  // "12,600": a list of two beside it proves nothing
  kDecimal,    // "0,2342", "0,001": nobody lists such a pair
};
Commas Says(std::string_view line, size_t comma, const Parts& parts) {
  constexpr size_t kGroup = 3;  // digits between commas of thousands
  const size_t fraction = parts.end - comma - 1;
  const bool below_one = line[parts.begin] == '0';
  if (fraction == kGroup && !below_one) {
    return comma - parts.begin <= kGroup ? Commas::kThousands
                                         : Commas::kPerhaps;
  }
  const char before = parts.begin > 0 ? line[parts.begin - 1] : '\0';
  const char behind = parts.end < line.size() ? line[parts.end] : '\0';
  const bool pair =
      (before == '[' || before == '(') && (behind == ']' || behind == ')');
  const bool goes_on = behind == '-' || behind == ':' || behind == '/';
  if (pair || goes_on) return Commas::kPerhaps;
  const bool sure = fraction > kGroup || (below_one && line[comma + 1] == '0');
  return sure ? Commas::kDecimal : Commas::kShort;
}

Commas CommasOf(std::string_view line) {
  Commas found = Commas::kNone;
  if (!HasCommaBetweenDigits(line)) return found;
  bool points = false;
  for (size_t i = NextBetweenDigits(line, 0, true); i < line.size();
       i = NextBetweenDigits(line, i + 1, true)) {
    if (line[i] == '.') {
      const size_t end = EndOfDate(line, i);
      points |= end == 0;
      i = std::max(i, end);
      continue;
    }
    const Parts parts = PartsAround(line, i);
    if (IsOfClock(line, parts)) {
      if (!HasCommaBetweenDigits(line.substr(i + 1))) break;
      continue;
    }
    // "1,234,567"; "0,25, Dauer" is a number and a comma.
    const bool listed =
        (parts.begin > 1 && line[parts.begin - 1] == ',' &&
         IsDigit(line[parts.begin - 2])) ||
        (parts.end + 1 < line.size() && line[parts.end] == ',' &&
         IsDigit(line[parts.end + 1]));
    if (listed) return Commas::kNone;
    found = std::max(found, Says(line, i, parts));
  }
  if (!points) return found;
  return found == Commas::kDecimal ? Commas::kMixed : Commas::kNone;
}

}  // namespace

bool HasDecimalCommas(std::string_view line) {
  return CommasOf(line) > Commas::kMixed;
}

std::string_view WithDecimalPoints(std::string_view line, std::string* out) {
  const Commas commas = CommasOf(line);
  const bool mixed = commas == Commas::kMixed;
  if (!mixed && commas != Commas::kShort && commas != Commas::kDecimal) {
    return line;
  }
  *out = line;
  for (size_t i = NextBetweenDigits(line, 0, false); i < line.size();
       i = NextBetweenDigits(line, i + 1, false)) {
    const bool decimal =
        !mixed || Says(line, i, PartsAround(line, i)) == Commas::kDecimal;
    if (decimal) (*out)[i] = '.';
  }
  return *out;
}

}  // namespace nanwatch
