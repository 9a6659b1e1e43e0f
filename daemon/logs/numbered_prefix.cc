#include "logs/numbered_prefix.h"

#include <algorithm>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind a clock, "2025-03-11 08:02:11,123 " or "[08:02:11] ". `at`: there is
// none.
size_t BehindClock(std::string_view line, size_t at) {
  size_t end = at;
  if (end < line.size() && line[end] == '[') ++end;
  const size_t begin = end;
  bool parts = false;
  while (end < line.size() &&
         (IsDigit(line[end]) || line[end] == '-' || line[end] == ':' ||
          line[end] == '/' || line[end] == ',' || line[end] == '.' ||
          line[end] == 'T' || line[end] == 'Z')) {
    parts |= !IsDigit(line[end]);
    ++end;
  }
  constexpr size_t kLeast = 8;  // of "08:02:11"
  if (!parts || end - begin < kLeast) return at;
  if (end < line.size() && line[end] == ']') ++end;
  if (end == line.size() || line[end] != ' ') return at;
  return line.find_first_not_of(' ', end);
}

// Words of what runs a rank, or of a host's name.
bool MayNameRank(std::string_view word) {
  constexpr std::string_view kNot[] = {"step",  "iter",   "epoch", "batch",
                                       "layer", "block",  "fold",  "head",
                                       "stage", "expert", "agent", "env"};
  constexpr std::string_view kRuns[] = {"gpu",  "cuda", "npu",  "dev",
                                        "work", "node", "host", "proc",
                                        "task", "pod",  "repl", "rank"};
  const std::string text = LowerCase(word);
  return HasOneOf(text, kRuns) ||
         (word.find(' ') == word.npos && !HasOneOf(text, kNot));
}

}  // namespace

std::optional<NumberedPrefix> ReadNumberedPrefix(std::string_view line) {
  size_t at = std::min(line.find_first_not_of(' '), line.size());
  for (int part = 0; part < 2 && at < line.size(); ++part) {
    at = BehindClock(line, at);
  }
  if (at >= line.size()) return std::nullopt;
  const size_t begin = at;
  const char open = line[at];
  const char close = open == '[' ? ']' : open == '(' ? ')' : '\0';
  if (close != '\0') ++at;
  const size_t word = at;
  // A host's name holds digits, too: the last ones are its number.
  size_t digits = line.size();
  for (; at < line.size() && at - begin < NumberedRanks::kBefore; ++at) {
    const char c = line[at];
    if (IsDigit(c)) {
      if (digits == line.size()) digits = at;
      continue;
    }
    const bool of_name = IsLetter(c) || c == '-' || c == '_' || c == '.' ||
                         (c == ':' && at > word && IsLetter(line[at - 1]) &&
                          at + 1 < line.size() && IsDigit(line[at + 1])) ||
                         (c == ' ' && digits == line.size());
    if (!of_name) break;
    digits = line.size();
  }
  if (digits >= at || at - digits > 4) return std::nullopt;
  Scan scan(line, at);
  const char next = scan.peek();  // of most lines none of these
  if (next != '/' && next != ':' && next != '|' && next != ' ' &&
      next != close) {
    return std::nullopt;
  }
  if (scan.Skip("/")) {
    while (IsDigit(scan.peek())) scan.Skip(scan.peek());
  }
  if (close != '\0') {
    if (!scan.Skip(close)) return std::nullopt;
    scan.Skip(":");
    if (!scan.Skip(" ")) return std::nullopt;
  } else if (!scan.Skip(": ") && !scan.Skip(" | ") && !scan.Skip("| ")) {
    return std::nullopt;
  }
  const std::string_view name = line.substr(word, digits - word);
  if (!name.empty() && !MayNameRank(name)) return std::nullopt;
  NumberedPrefix prefix;
  prefix.before = line.substr(begin, digits - begin);
  for (size_t i = digits; i < at; ++i) {
    prefix.number = prefix.number * 10 + (line[i] - '0');
  }
  if (prefix.number > NumberedRanks::kNumberMax) return std::nullopt;
  return prefix;
}

NumberedRanks::Series* NumberedRanks::Find(size_t reader,
                                           std::string_view before) {
  for (Series& each : series_) {
    if (each.reader == reader && each.before == before) return &each;
  }
  if (series_.size() == kSeries) return nullptr;
  Series& added = series_.emplace_back();
  added.reader = reader;
  added.before = before;
  return &added;
}

void NumberedRanks::Note(size_t reader, const NumberedPrefix& prefix,
                         int64_t step) {
  if (known_) return;
  Series* const series = Find(reader, prefix.before);
  if (series == nullptr) return;
  std::vector<Seen>& seen = series->seen;
  const bool behind_others = series->newest != prefix.number;
  series->newest = prefix.number;
  const auto own = std::find_if(
      seen.begin(), seen.end(),
      [&prefix](const Seen& s) { return s.number == prefix.number; });
  const auto another_at = [&](int64_t at) {
    return std::any_of(seen.begin(), seen.end(), [&](const Seen& s) {
      return s.number != prefix.number && s.step == at;
    });
  };
  may_be_ |= another_at(step);
  if (own == seen.end()) {
    seen.push_back({prefix.number, step});
    return;
  }
  if (step == own->step) return;
  if (step < own->step) {  // it began again, or it is no step
    seen.clear();
    seen.push_back({prefix.number, step});
    series->returns = 0;
    return;
  }
  if (behind_others && (another_at(own->step) || another_at(step))) {
    ++series->returns;
  }
  own->step = step;
  if (series->returns < kReturns) return;
  known_ = true;
  from_zero_ = std::any_of(seen.begin(), seen.end(),
                           [](const Seen& s) { return s.number == 0; });
  before_ = series->before;
  series_.clear();
}

}  // namespace nanwatch
