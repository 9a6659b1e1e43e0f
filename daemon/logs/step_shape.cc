#include "logs/step_shape.h"

#include <algorithm>

#include "logs/next_sign.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Longer lines are lists of metrics or glued; words of them say enough.
constexpr size_t kPatternMax = 1024;
// Words for one number; longer ones are another line's.
constexpr size_t kWordsMax = 80;
// Numbers of one line that may be words.
constexpr size_t kWordsOfLine = 16;
// A pattern of fewer letters than these fits many lines ("0,0,0"): there most
// numbers must be numbers.
constexpr size_t kLettersLeast = 6;
constexpr char kNumber = '\0';

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// End of "nan", "inf" or "infinity" at `at`, in any case, also as Julia prints
// it; `at`: none.
size_t BehindNotFinite(std::string_view text, size_t at) {
  if (at > 0 && (IsLetter(text[at - 1]) || text[at - 1] == '_')) return at;
  size_t end = at;
  while (end < text.size() &&
         (IsLetter(text[end]) || IsDigit(text[end]) || text[end] == '_')) {
    ++end;
  }
  std::string word = LowerCase(text.substr(at, std::min<size_t>(end - at, 9)));
  if (word.size() == 5 && SizeOfWidth(std::string_view(word).substr(3)) == 2) {
    word.resize(3);
  }
  if (word != "nan" && word != "inf" && word != "infinity") return at;
  return end + (text.substr(end).starts_with(".0") ? 2 : 0);
}

// End of the number at `at`, its sign included; `at`: there is none.
size_t BehindNumber(std::string_view text, size_t at) {
  size_t end = at;
  const bool sign = text[end] == '-' || text[end] == '+';
  if (sign && at > 0 && (IsLetter(text[at - 1]) || IsDigit(text[at - 1]))) {
    return at;
  }
  if (sign) ++end;
  if (end == text.size()) return at;
  if (!IsDigit(text[end])) {
    const size_t word = BehindNotFinite(text, end);
    return word == end ? at : word;
  }
  bool point = false;
  for (; end < text.size() && (IsDigit(text[end]) || text[end] == '.'); ++end) {
    point |= text[end] == '.';
  }
  // Julia's "2.31f0".
  const bool power = point && end + 1 < text.size() && text[end] == 'f' &&
                     (IsDigit(text[end + 1]) || text[end + 1] == '-');
  if (!power) return BehindExponent(text, end);
  return BehindDigits(text, end + 2);
}

// Whether `text` goes on at `at` as `pattern` does up to its next number, three
// letters at most.
bool GoesOn(std::string_view pattern, std::string_view text, size_t at) {
  for (const char c : pattern.substr(0, 3)) {
    if (c == kNumber) return true;
    at = BehindBlanks(text, at);
    if (at >= text.size() || text[at] != c) return false;
    ++at;
  }
  return true;
}

// End of words at `at`, before what `pattern` goes on with; `at`: none end.
size_t BehindWords(std::string_view pattern, std::string_view text, size_t at) {
  const bool open = pattern.empty() || pattern.front() == kNumber;
  for (size_t end = at; end - at <= kWordsMax; ++end) {
    if (end == text.size()) return pattern.empty() ? end : at;
    const char c = text[end];
    const bool ends = open ? IsBlank(c)
                           : (IsBlank(c) || c == pattern.front()) &&
                                 GoesOn(pattern, text, end);
    if (ends && end > at) return end;
  }
  return at;
}

// The name that ends before `at`: "loss" of "'loss': ".
std::string_view NameBefore(std::string_view line, size_t at) {
  const auto of_name = [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '_' || c == '/';
  };
  while (at > 0 && !of_name(line[at - 1])) --at;
  const size_t end = at;
  while (at > 0 && of_name(line[at - 1])) --at;
  const bool number = at < end && IsDigit(line[at]);
  return number ? std::string_view() : line.substr(at, end - at);
}

// The value that begins `text`, up to its end: "null", "nanxxx".
std::string_view Value(std::string_view text) {
  text = TrimBlanks(text);
  return TrimBlanks(text.substr(0, text.find_first_of(" ,;|}\t")));
}

// End of the drawing of a bar of ASCII, "%|####5   |", whose first sign behind
// the percentage is at `at`; `at`: there is none. No number is in it.
size_t BehindDrawing(std::string_view text, size_t at) {
  if (at < 2 || text[at - 1] != '|' || text[at - 2] != '%') return at;
  const size_t end = text.find_first_not_of("# 0123456789", at);
  return end < text.size() && text[end] == '|' ? end : at;
}

// What programs write where they have no number: more than another word.
bool StandsForNumber(std::string_view words) {
  constexpr std::string_view kWords[] = {"none",    "null",      "n/a", "na",
                                         "missing", "undefined", "--",  "---"};
  const std::string low = LowerCase(words.substr(0, 10));
  return low.starts_with("nan") || IsOneOf(low, kWords);
}

}  // namespace

void StepNames::Learn(std::string_view line) {
  for (size_t at = NextSign(line, 0); at < line.size();
       at = NextSign(line, at + 1)) {
    const size_t value = line.find_first_not_of(" '\"", at + 1);
    if (value >= line.size() || BehindNumber(line, value) == value) continue;
    const std::string_view name = NameBefore(line, at);
    const bool known =
        std::find(names_.begin(), names_.end(), name) != names_.end();
    if (name.empty() || known || names_.size() == kNames) continue;
    names_.emplace_back(name);
  }
}

void StepNames::Find(std::string_view line,
                     std::vector<WordsForNumber>* words) const {
  words->clear();
  if (names_.empty()) return;
  bool number = false;
  for (size_t at = NextSign(line, 0); at < line.size();
       at = NextSign(line, at + 1)) {
    const std::string_view name = NameBefore(line, at);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) continue;
    const size_t value = line.find_first_not_of(" '\"", at + 1);
    if (value < line.size() && BehindNumber(line, value) > value) {
      number = true;
    } else if (words->size() < kWordsOfLine) {
      words->push_back({name, Value(line.substr(at + 1))});
    }
  }
  if (!number) words->clear();
}

bool StepShape::Learn(std::string_view line, uint32_t fields) {
  pattern_.clear();
  fields_ = fields;
  size_t numbers = 0;
  for (size_t at = 0; at < line.size();) {
    if (pattern_.size() == kPatternMax) return false;
    at = BehindDrawing(line, at);
    const size_t end = BehindNumber(line, at);
    if (end > at) {
      pattern_ += kNumber;
      ++numbers;
      at = end;
    } else {
      if (!IsBlank(line[at])) pattern_ += line[at];
      ++at;
    }
  }
  letters_ = pattern_.size() - numbers;
  return numbers > 0;
}

bool StepShape::Match(std::string_view line,
                      std::vector<WordsForNumber>* words) const {
  words->clear();
  size_t numbers = 0;
  size_t at = 0;
  for (size_t i = 0; i < pattern_.size(); ++i) {
    at = BehindBlanks(line, BehindDrawing(line, at));
    const bool number = pattern_[i] == kNumber;
    const std::string_view rest = std::string_view(pattern_).substr(i + 1);
    const bool nothing =
        number &&
        (at == line.size() ? rest.empty()
                           : !rest.empty() && rest.front() != kNumber &&
                                 GoesOn(rest, line, at));
    if (nothing) {
      if (words->size() == kWordsOfLine) return false;
      words->push_back({NameBefore(line, at), line.substr(at, 0)});
      continue;
    }
    if (at == line.size()) return false;
    if (!number) {
      if (line[at++] != pattern_[i]) return false;
      continue;
    }
    size_t end = BehindNumber(line, at);
    if (end > at) {
      ++numbers;
    } else {
      if (IsDigit(line[at]) || words->size() == kWordsOfLine) return false;
      end = BehindWords(rest, line, at);
      if (end == at) return false;
      words->push_back(
          {NameBefore(line, at), TrimBlanks(line.substr(at, end - at))});
    }
    at = end;
  }
  const bool whole = BehindBlanks(line, at) == line.size();
  // The only number of the line, by its name.
  const bool alone = numbers == 0 && letters_ >= kLettersLeast &&
                     words->size() == 1 && StandsForNumber(words->front().text);
  if (whole && alone) return true;
  return whole && numbers > 0 &&
         (letters_ >= kLettersLeast || words->size() <= numbers);
}

}  // namespace nanwatch
