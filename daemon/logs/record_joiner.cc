#include "logs/record_joiner.h"

#include <algorithm>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kBetween = " | ";

// Words that say where in its run a training is.
bool IsOfPlace(std::string_view word) {
  constexpr size_t kLongest = 9;
  constexpr std::string_view kWords[] = {"step",      "steps",  "iter",
                                         "iteration", "epoch",  "batch",
                                         "update",    "episode"};
  return word.size() <= kLongest && IsOneOf(LowerCase(word), kWords);
}

// Returns `line` without the place in the source at its end, "   loop.py:212".
std::string_view WithoutPlace(std::string_view line) {
  const size_t end = line.find_last_not_of("0123456789");
  if (end == line.npos || end + 1 == line.size() || end < 3) return line;
  if (line.substr(end - 3, 4) != ".py:") return line;
  const size_t blank = line.find_last_of(' ', end);
  return blank == line.npos ? line : TrimBlanks(line.substr(0, blank));
}

// Returns `line` up to the first number of the brackets at its end, which say
// what else there is behind it: "INFO [step=10/1000,eta=1 day, 3:07:11]".
std::string_view WithoutRest(std::string_view line) {
  if (!line.ends_with(']')) return line;
  const size_t begin = line.find_last_of('[');
  const size_t sign = line.find_first_of(",]", begin);
  return begin == line.npos ? line : line.substr(0, sign);
}

// "INFO  step=25 epoch=0 lr=1.9e-05": it ends with pairs, and one says where
// in its run the training is. None shows what a record is judged by: that would
// be told twice.
bool EndsWithPairs(std::string_view line) {
  bool placed = false;
  for (;;) {
    line = TrimBlanks(line);
    const std::string_view pair = line.substr(line.find_last_of(' ') + 1);
    const size_t sign = pair.find('=');
    if (sign == pair.npos || sign + 1 == pair.size()) return placed;
    const std::string_view name = pair.substr(0, sign);
    if (name.find("oss") != name.npos || name.find("norm") != name.npos) {
      return false;
    }
    placed |= IsOfPlace(name);
    line.remove_suffix(pair.size());
  }
}

// "INFO [step=10/1000,epoch=0]", "Iteration 10:", "==== Step 3/60 ====": the
// line ends with such words and numbers.
bool IsHeader(std::string_view line) {
  const std::string_view text = WithoutPlace(line);
  if (text.size() < line.size() && EndsWithPairs(text)) return true;
  line = WithoutRest(text);
  bool digit = false;
  for (size_t end = line.size(); end > 0;) {
    const char c = line[end - 1];
    if (!IsLetter(c)) {
      digit |= IsDigit(c);
      --end;
      continue;
    }
    size_t begin = end;
    while (begin > 0 && IsLetter(line[begin - 1])) --begin;
    const std::string_view word = line.substr(begin, end - begin);
    if (word != "of") return digit && IsOfPlace(word);
    end = begin;
  }
  return false;
}

// The name of "    train/loss=2.31", of " Train lr: 1e-04", with its sign.
// Empty: the line is no number of a record.
std::string_view NameOfPart(std::string_view line) {
  const std::string_view text = TrimBlanks(line);
  const size_t sign = text.find_first_of("=:");
  if (sign == std::string_view::npos || !IsLetter(text.front())) return "";
  const std::string_view name = text.substr(0, sign);
  if (name.find_first_of("[]{}\"'|,;") != std::string_view::npos) return "";
  const std::string_view value = TrimBlanks(text.substr(sign + 1));
  if (value.empty() || value.find_first_of("=|{}[]") != value.npos) return "";
  // "2.31", "1.2 s", "none"; of words there is one.
  const bool number = !IsLetter(value.front());
  const size_t blank = value.find(' ');
  if (blank != value.npos &&
      (!number || value.find(' ', blank + 1) != value.npos)) {
    return "";
  }
  // A clock has colons, another pair has, too.
  if (value.find(':') != value.npos && (!number || blank != value.npos)) {
    return "";
  }
  return text.substr(0, sign + 1);
}

// The first name of several, "loss=2.31 lr=1e-04    loop.py:212", with its
// sign. Empty: the line holds other things.
std::string_view FirstOfPairs(std::string_view line) {
  const std::string_view text = WithoutPlace(TrimBlanks(line));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view pair = text.substr(at, end - at);
    const size_t sign = pair.find('=');
    const bool named = IsLetter(pair.front()) && sign != pair.npos &&
                       sign + 1 < pair.size() &&
                       pair.find_first_of("={}[]\"'|,;", sign + 1) == pair.npos;
    if (!named) return "";
    at = std::min(text.find_first_not_of(' ', end), text.size());
  }
  return text.substr(0, text.find('=') + 1);
}

// "  train:", of the lines below it.
bool IsSection(std::string_view line) {
  const std::string_view text = TrimBlanks(line);
  return text.size() > 1 && text.back() == ':' &&
         std::all_of(text.begin(), text.end() - 1,
                     [](char c) { return IsLetter(c) || c == '_'; });
}

}  // namespace

bool RecordJoiner::TakePart(std::string_view line) {
  if (header_.empty()) return false;
  if (IsSection(line)) {
    if (parts_ == 0) record_ = header_;
    ++parts_;
    return true;
  }
  std::string_view name = NameOfPart(line);
  if (name.empty()) name = FirstOfPairs(line);
  if (name.empty()) return false;
  // The same again begins another record of that header.
  const bool again =
      parts_ > 0 &&
      record_.find(std::string(kBetween).append(name)) != std::string::npos;
  if (again || record_.size() + line.size() > kRecordMax) Flush();
  if (parts_ == 0) record_ = header_;
  record_.append(kBetween).append(TrimBlanks(line));
  ++parts_;
  return true;
}

void RecordJoiner::Take(std::string_view line) {
  const bool set_in = line.starts_with(' ') || line.starts_with('\t');
  if (set_in && TakePart(line)) return;
  if (parts_ > 0) Flush();
  header_.clear();
  // Of most lines the last word shows that they are none.
  if (!set_in && line.size() <= kHeaderMax && IsHeader(line)) header_ = line;
  sink_(line);
}

void RecordJoiner::Flush() {
  for (; parts_ > 1; --parts_) sink_("");
  if (parts_ == 1) sink_(record_);
  parts_ = 0;
}

}  // namespace nanwatch
