#include "logs/number_row.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/fnv1a.h"
#include "logs/decimal_commas.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr auto kWordLetters = [] {
  std::array<bool, 256> letters{};
  for (size_t i = 0; i < letters.size(); ++i) {
    const char low = Lower(static_cast<char>(i));
    letters[i] = (low >= 'a' && low <= 'z') || low == '_' || i >= 0x80;
  }
  return letters;
}();
bool IsWordLetter(char c) { return kWordLetters[static_cast<uint8_t>(c)]; }

// The size of a clock or date at `at`, "12:01:07.250", "2025-01-31",
// "03.04.2024"; 0: there is none.
size_t ClockAt(std::string_view line, size_t at) {
  size_t end = at;
  int parts = 0;
  char sign = '\0';
  while (end < line.size() && IsDigit(line[end])) {
    const size_t from = end;
    end = BehindDigits(line, end);
    const size_t digits = end - from;
    if (digits != 2 && digits != 4) break;
    ++parts;
    const char next = end < line.size() ? line[end] : '\0';
    const bool joins = next == ':' || next == '-' || next == '/' || next == '.';
    if (!joins || (sign != '\0' && next != sign)) break;
    if (end + 1 >= line.size() || !IsDigit(line[end + 1])) break;
    sign = next;
    ++end;
  }
  if (parts < 3 && !(parts == 2 && sign == ':' && end - at == 5)) return 0;
  while (end < line.size() &&
         (IsDigit(line[end]) || line[end] == '.' || line[end] == ',' ||
          line[end] == ':' || line[end] == 'T' || line[end] == 'Z')) {
    ++end;
  }
  return end - at;
}

// `text` ends with the word of a step, to which its number may be glued: "ep0
// bt12".
bool IsCounted(std::string_view text) {
  constexpr std::string_view kWords[] = {
      "e", "b", "ep", "epoch", "it", "iter", "bt", "batch", "upd", "step"};
  size_t begin = text.size();
  while (begin > 0 && IsWordLetter(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin);
  const bool begins = begin == 0 || !IsDigit(text[begin - 1]);
  return begins && word.size() <= 5 && IsOneOf(LowerCase(word), kWords);
}

// "e-04", "E+2", and Julia's "f0" behind a point.
bool BeginsPower(std::string_view text) {
  const bool letter =
      !text.empty() && (text[0] == 'e' || text[0] == 'E' || text[0] == 'f');
  if (!letter || text.size() < 2) return false;
  const size_t sign = text[1] == '-' || text[1] == '+' ? 1 : 0;
  return text.size() > 1 + sign && IsDigit(text[1 + sign]);
}

// What stands right behind a number is a unit of time, or any that touches it.
bool BeginsWithUnit(std::string_view rest) {
  constexpr std::string_view kTimes[] = {"s",   "sec", "secs",  "seconds", "ms",
                                         "min", "hrs", "hours", "minutes"};
  if (rest.empty()) return false;
  if (IsWordLetter(rest[0])) return true;
  if (rest[0] != ' ') return false;
  size_t end = 1;
  while (end < rest.size() && IsWordLetter(rest[end])) ++end;
  const std::string_view word = rest.substr(1, end - 1);
  return IsOneOf(word, kTimes);
}

}  // namespace

size_t NumberRow::ReadNumber(std::string_view line, size_t at) {
  size_t end = at;
  if (end < line.size() && (line[end] == '-' || line[end] == '+')) ++end;
  const size_t first = end;
  bool whole = true;
  std::string text(line.substr(at, end - at));
  const std::string_view rest = line.substr(end);
  RowNumber number{.begin = at};
  for (const std::string_view word :
       {"nan", "NaN", "inf", "Inf", "NAN", "INF"}) {
    if (!rest.starts_with(word)) continue;
    const size_t wide = SizeOfWidth(rest.substr(word.size()));
    const size_t behind = end + word.size() + wide;
    if (behind < line.size() &&
        (IsWordLetter(line[behind]) || IsDigit(line[behind]))) {
      return 0;
    }
    number.value = *WholeNumber(word);
    if (line[at] == '-') number.value = -number.value;
    number.end = behind;
    numbers_.push_back(number);
    return behind - at;
  }
  while (end < line.size()) {
    const char c = line[end];
    const bool point = c == '.' || (commas_ && c == ',');
    if (IsDigit(c)) {
      text += c;
    } else if (point && whole && end > first) {
      whole = false;
      text += '.';
    } else if (end > first && BeginsPower(line.substr(end)) &&
               (c != 'f' || !whole)) {
      whole = false;
      text += 'e';
      text += line[++end];
    } else {
      break;
    }
    ++end;
  }
  if (end == first) return 0;
  // "1.#QNAN000", "-1.#IND", "1.#INF": of Microsoft's C library.
  const std::string_view behind = line.substr(end);
  if (text.back() == '.' && behind.starts_with('#')) {
    const bool infinite = behind.starts_with("#INF");
    while (end < line.size() && (line[end] == '#' || IsDigit(line[end]) ||
                                 IsWordLetter(line[end]))) {
      ++end;
    }
    number.value = *WholeNumber(infinite ? "inf" : "nan");
    if (line[at] == '-') number.value = -number.value;
    number.end = end;
    numbers_.push_back(number);
    return end - at;
  }
  if (text.back() == '.') {  // of a sentence
    text.pop_back();
    --end;
    whole = true;
  }
  const std::optional<double> value = WholeNumber(text);
  if (!value) return 0;
  number.value = *value;
  number.whole = whole;
  number.share = end < line.size() && line[end] == '%';
  number.unit =
      BeginsWithUnit(line.substr(end)) || line.substr(0, at).ends_with("cuda:");
  number.end = end;
  numbers_.push_back(number);
  return end - at;
}

bool NumberRow::Read(std::string_view line) {
  numbers_.clear();
  line_ = line;
  if (line.size() > kBytesMax) return false;
  commas_ = HasDecimalCommas(line);
  Fnv1a hash;
  const auto add = [&hash](char c) { hash.Put(static_cast<uint8_t>(c)); };
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    // Digits of other words were added with them.
    const bool word = at > 0 && IsWordLetter(line[at - 1]) && !IsDigit(c);
    if (IsDigit(c) && !word) {
      if (const size_t clock = ClockAt(line, at)) {
        at += clock;
        add('T');
        continue;
      }
    }
    // A minus between digits is a range.
    const bool sign =
        (c == '-' || c == '+') &&
        (at == 0 || line[at - 1] == ' ' || line[at - 1] == '=' ||
         line[at - 1] == ':' || line[at - 1] == ',' || line[at - 1] == '\t');
    const bool may =
        IsDigit(c) || sign || c == 'n' || c == 'N' || c == 'i' || c == 'I';
    const size_t size = may && !word ? ReadNumber(line, at) : 0;
    if (size > 0) {
      if (numbers_.size() > kNumbersMax) return false;
      add('0');
      at += size;
      continue;
    }
    if (c != ' ' && c != '\t' && c != '-') add(c);
    ++at;
    // Digits of a word are a part of it.
    const bool of_word =
        IsWordLetter(c) || (c == '@' && at > 1 && IsWordLetter(line[at - 2]));
    const bool glued = of_word && at < line.size() && IsDigit(line[at]);
    if (glued && !IsCounted(line.substr(0, at))) {
      while (at < line.size() && IsDigit(line[at])) add(line[at++]);
    }
  }
  words_ = hash.value();
  return !numbers_.empty();
}

std::string_view NumberRow::Before(size_t i) const {
  const size_t from = i == 0 ? 0 : numbers_[i - 1].end;
  const size_t to = i == numbers_.size() ? line_.size() : numbers_[i].begin;
  return line_.substr(from, to - from);
}

bool NumberRow::IsDifferentiated(size_t i) const {
  const std::string_view behind = Before(i + 1);
  return Before(i).ends_with("tensor(") &&
         behind.substr(0, behind.find(')')).find("grad_fn=<") != behind.npos;
}

}  // namespace nanwatch
