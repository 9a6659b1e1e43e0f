#include "logs/pointed_thousands.h"

#include <algorithm>
#include <optional>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kGroup = 3;  // digits between points
constexpr size_t kMost = 15;  // of a count that a double holds; ours

// A count, and where it stands.
struct Grouped {
  std::string digits;
  size_t begin = 0;
  size_t end = 0;
};

// Reads the count in `text`, of digits and points, which must stand where those
// of thousands do. A few digits have none.
std::optional<std::string> ReadGroups(std::string_view text) {
  std::string digits;
  const size_t first = std::min(text.find('.'), text.size());
  const bool plain = first == text.size();
  if (first == 0 || first > kGroup || (text[0] == '0' && text.size() > 1)) {
    return std::nullopt;
  }
  digits += text.substr(0, first);
  for (size_t at = first; at < text.size(); at += kGroup + 1) {
    const std::string_view group = text.substr(at, kGroup + 1);
    const bool whole = group.size() == kGroup + 1 && group[0] == '.' &&
                       std::all_of(group.begin() + 1, group.end(), IsDigit);
    if (!whole) return std::nullopt;
    digits += group.substr(1);
  }
  const bool fits = plain || digits.size() <= kMost;
  return fits ? std::optional(digits) : std::nullopt;
}

// What stands around a slash.
std::optional<Grouped> CountBefore(std::string_view line, size_t slash) {
  size_t end = slash;
  while (end > 0 && line[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && (IsDigit(line[begin - 1]) || line[begin - 1] == '.')) {
    --begin;
  }
  const auto digits = ReadGroups(line.substr(begin, end - begin));
  return digits ? std::optional<Grouped>({*digits, begin, end}) : std::nullopt;
}
std::optional<Grouped> CountBehind(std::string_view line, size_t slash) {
  const size_t begin = BehindBlanks(line, slash + 1);
  const size_t end =
      std::min(line.find_first_not_of("0123456789.", begin), line.size());
  const auto digits = ReadGroups(line.substr(begin, end - begin));
  return digits ? std::optional<Grouped>({*digits, begin, end}) : std::nullopt;
}

// "Schritt ", "step: ".
bool EndsWithStepWord(std::string_view text) {
  constexpr std::string_view kWords[] = {
      "step", "steps", "iter",  "iteration", "schritt", "stap", "paso",
      "pas",  "passo", "etape", "langkah",   "krok",    "trin"};
  // Those with letters that ASCII lacks.
  constexpr std::string_view kOthers[] = {"Adım", "adım", "Étape", "étape"};
  const size_t end = text.find_last_not_of(" :[#=");
  if (end == text.npos) return false;
  text = text.substr(0, end + 1);
  const std::string_view word = text.substr(text.find_last_of(" \t|[(,") + 1);
  // "time per step 1.234 / 2.500".
  if (TrimBlanks(text.substr(0, text.size() - word.size())).ends_with("per")) {
    return false;
  }
  return IsOneOf(LowerCase(word), kWords) || IsOneOf(word, kOthers);
}

}  // namespace

std::string_view WithoutPointsOfThousands(std::string_view line,
                                          std::string* out) {
  for (size_t at = line.find('/'); at != line.npos;
       at = line.find('/', at + 1)) {
    const size_t next = BehindBlanks(line, at + 1);
    if (next >= line.size() || !IsDigit(line[next])) continue;
    const size_t point = BehindDigits(line, next);  // of most ratios none
    if (point == line.size() || line[point] != '.') continue;
    const std::optional<Grouped> whole = CountBehind(line, at);
    if (!whole || whole->digits.size() <= kGroup) continue;
    const std::optional<Grouped> part = CountBefore(line, at);
    if (!part || !EndsWithStepWord(line.substr(0, part->begin))) continue;
    const bool more = part->digits.size() > whole->digits.size() ||
                      (part->digits.size() == whole->digits.size() &&
                       part->digits > whole->digits);
    const bool ends = whole->end == line.size() ||
                      !(IsLetter(line[whole->end]) || line[whole->end] == '%');
    if (more || !ends) continue;
    out->assign(line.substr(0, part->begin));
    out->append(part->digits).append("/").append(whole->digits);
    out->append(line.substr(whole->end));
    return *out;
  }
  return line;
}

}  // namespace nanwatch
