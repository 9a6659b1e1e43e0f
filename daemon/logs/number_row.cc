#include "logs/number_row.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

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

constexpr auto kBeginsNumber = [] {
  std::array<bool, 256> begins{};
  for (const char c : std::string_view("0123456789-+nNiI")) {
    begins[static_cast<uint8_t>(c)] = true;
  }
  return begins;
}();
bool MayBeginNumber(char c) { return kBeginsNumber[static_cast<uint8_t>(c)]; }

// True for text that ends with a letter, or with one and "@": "loss@2".
bool EndsWord(std::string_view text) {
  if (text.ends_with('@')) text.remove_suffix(1);
  return !text.empty() && IsWordLetter(text.back());
}

// Returns a hash of `text`, eight bytes at a time.
uint64_t HashOf(std::string_view text) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // of the golden ratio
  uint64_t hash = text.size();
  while (!text.empty()) {
    uint64_t part = 0;
    const size_t size = std::min(text.size(), sizeof part);
    std::memcpy(&part, text.data(), size);
    text.remove_prefix(size);
    hash = (hash ^ part) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

// The size of a clock or date at `at`, "12:01:07.250", "2025-01-31",
// "03.04.2024", "2026_08_19_16_07_49"; 0: there is none.
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
    const bool joins = std::string_view(":-/._").find(next) != line.npos;
    if (!joins || (sign != '\0' && next != sign)) break;
    if (end + 1 >= line.size() || !IsDigit(line[end + 1])) break;
    sign = next;
    ++end;
  }
  if (parts < 3 && !(parts == 2 && sign == ':' && end - at == 5)) return 0;
  const size_t behind = line.find_first_not_of("0123456789.,:TZ", end);
  return std::min(behind, line.size()) - at;
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

// Adds one that is no number, and returns its size.
size_t NumberRow::Add(std::string_view line, size_t at, size_t end,
                      std::string_view word) {
  const double value = *WholeNumber(word);
  numbers_.push_back(
      {.value = line[at] == '-' ? -value : value, .begin = at, .end = end});
  return end - at;
}

// Reads "nan" or "inf" at `at`, whose letters begin at `first`.
size_t NumberRow::ReadWord(std::string_view line, size_t at, size_t first) {
  const std::string_view rest = line.substr(first);
  for (const std::string_view word :
       {"nan", "NaN", "inf", "Inf", "NAN", "INF"}) {
    if (!rest.starts_with(word)) continue;
    const size_t wide = SizeOfWidth(rest.substr(word.size()));
    const size_t end = first + word.size() + wide;
    const bool more =
        end < line.size() && (IsWordLetter(line[end]) || IsDigit(line[end]));
    return more ? 0 : Add(line, at, end, word);
  }
  return 0;
}

size_t NumberRow::ReadNumber(std::string_view line, size_t at) {
  size_t end = at;
  if (line[end] == '-' || line[end] == '+') ++end;
  const size_t first = end;
  if (first == line.size() || !IsDigit(line[first])) {
    return ReadWord(line, at, first);
  }
  const auto is_point = [this](char c) {
    return c == '.' || (commas_ && c == ',');
  };
  bool whole = true;
  bool plain = true;  // as WholeNumber() reads it
  for (; end < line.size(); ++end) {
    const char c = line[end];
    if (IsDigit(c)) continue;
    if (is_point(c) && whole) {
      plain = c == '.';
    } else if (BeginsPower(line.substr(end)) && (c != 'f' || !whole)) {
      plain = plain && c != 'f';
      ++end;
    } else {
      break;
    }
    whole = false;
  }
  if (is_point(line[end - 1])) {
    // "1.#QNAN000", "-1.#IND", "1.#INF": of Microsoft's C library.
    const std::string_view behind = line.substr(end);
    if (behind.starts_with('#')) {
      while (end < line.size() && (line[end] == '#' || IsDigit(line[end]) ||
                                   IsWordLetter(line[end]))) {
        ++end;
      }
      return Add(line, at, end, behind.starts_with("#INF") ? "inf" : "nan");
    }
    --end;  // of a sentence
    whole = true;
  }
  std::string_view text = line.substr(at, end - at);
  std::string replaced;
  if (!plain) {
    replaced = text;
    std::ranges::replace(replaced, ',', '.');
    std::ranges::replace(replaced, 'f', 'e');
    text = replaced;
  }
  const std::optional<double> value = WholeNumber(text);
  if (!value) return 0;
  numbers_.push_back({.value = *value,
                      .whole = whole,
                      .share = end < line.size() && line[end] == '%',
                      .unit = BeginsWithUnit(line.substr(end)) ||
                              line.substr(0, at).ends_with("cuda:"),
                      .begin = at,
                      .end = end});
  return end - at;
}

// Returns the size of the clock or number at `at`, 0: there is none. `*stands`:
// the letter for it among the words.
size_t NumberRow::TakeNumber(std::string_view line, size_t at, char* stands) {
  const char c = line[at];
  if (IsDigit(c)) {
    *stands = 'T';
    if (const size_t clock = ClockAt(line, at)) return clock;
  } else if (at > 0) {
    const char before = line[at - 1];
    if (IsWordLetter(before)) return 0;
    // A minus between digits is a range.
    const bool sign = c == '-' || c == '+';
    const bool begins = before == ' ' || before == '=' || before == ':' ||
                        before == ',' || before == '\t';
    if (sign && !begins) return 0;
  }
  *stands = '0';
  return ReadNumber(line, at);
}

bool NumberRow::Read(std::string_view line) {
  numbers_.clear();
  line_ = line;
  if (line.size() > kBytesMax) return false;
  commas_ = HasDecimalCommas(line);
  std::array<char, kBytesMax> words;  // no longer than the line
  size_t size = 0;
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (!MayBeginNumber(c)) {
      if (c != ' ' && c != '\t') words[size++] = c;
      ++at;
      continue;
    }
    // Digits of a word are a part of it.
    std::string_view word = line.substr(0, at);
    const bool glued = IsDigit(c) && EndsWord(word);
    if (word.ends_with('@')) word.remove_suffix(1);
    if (glued && !IsCounted(word)) {
      while (at < line.size() && IsDigit(line[at])) words[size++] = line[at++];
      continue;
    }
    char stands = '\0';
    const size_t number = TakeNumber(line, at, &stands);
    if (numbers_.size() > kNumbersMax) return false;
    if (number > 0) words[size++] = stands;
    if (number == 0 && c != '-') words[size++] = c;
    at += std::max<size_t>(number, 1);
  }
  words_ = HashOf({words.data(), size});
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
