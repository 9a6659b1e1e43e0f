// Where a progress bar stands in a line, and what it counts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/in_words.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Where `first` and `second` stand side by side, from `at` on; npos: nowhere.
size_t FindTwo(char first, char second, std::string_view line, size_t at) {
  at = line.find(first, at);
  while (at != std::string_view::npos &&
         !line.substr(at + 1).starts_with(second)) {
    at = line.find(first, at + 1);
  }
  return at;
}

// Up to nine digits from `*at` on; past them. False: none, or more.
bool ReadDigits(std::string_view text, size_t* at, int64_t* number) {
  const size_t begin = *at;
  const size_t end = std::min(text.size(), begin + 10);
  size_t i = begin;
  int64_t sum = 0;
  for (; i < end && IsDigit(text[i]); ++i) {
    sum = sum * 10 + (text[i] - '0');
  }
  *at = i;
  *number = sum;
  return i > begin && i < begin + 10;
}

// "94.0/171", a count that a bar printed to so many digits: tqdm's unit_scale.
std::optional<Ratio> ReadRatioWithPoint(Scan* scan) {
  const std::optional<int64_t> part = AsCount(scan->Number());
  if (!part || !scan->Skip("/")) return std::nullopt;
  const std::optional<int64_t> whole = AsCount(scan->Number());
  if (!whole || *part > *whole) return std::nullopt;
  return Ratio{*part, *whole};
}

// " 176/391 [", from its blanks on; behind it. 0: there is none.
size_t ReadRatioOfBar(std::string_view line, size_t at, Ratio* ratio) {
  while (at < line.size() && line[at] == ' ') ++at;
  size_t end = at;
  const bool usual = ReadDigits(line, &end, &ratio->part) &&
                     end < line.size() && line[end++] == '/' &&
                     ReadDigits(line, &end, &ratio->whole);
  if (!usual) {
    Scan scan(line, at);
    std::optional<Ratio> read = ReadRatio(&scan);
    if (!read) {
      scan = Scan(line, at);
      read = ReadRatioWithPoint(&scan);
    }
    if (!read) return 0;
    *ratio = *read;
    end = scan.at();
  }
  return line.substr(end).starts_with(" [") ? end + 2 : 0;
}

// Of a bar whose percentage ends at `end` and whose title ends with the epoch,
// "001/100: ".
std::optional<int64_t> EpochOfTitle(std::string_view line, size_t end) {
  while (end > 0 && (IsDigit(line[end - 1]) || line[end - 1] == ' ')) --end;
  if (end == 0 || line[end - 1] != ':') return std::nullopt;
  const std::string_view title = line.substr(0, end - 1);
  Scan scan(title, title.find_last_of(" [(") + 1);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || epoch->part > epoch->whole) return std::nullopt;
  if (!scan.Skip("]")) scan.Skip(")");
  return scan.done() ? std::optional(epoch->part) : std::nullopt;
}

}  // namespace

std::optional<BarPlace> BarIn(std::string_view line) {
  BarPlace bar;
  bar.begin = FindTwo('%', '|', line, 0);
  if (bar.begin == std::string_view::npos) return std::nullopt;
  const size_t drawn = FindTwo('|', ' ', line, bar.begin + 2);
  if (drawn == std::string_view::npos) return std::nullopt;
  Ratio ratio;
  const size_t clocks = ReadRatioOfBar(line, drawn + 2, &ratio);
  if (clocks == 0) return std::nullopt;
  const size_t comma = line.find(',', clocks);
  bar.end = std::min(line.substr(0, comma).find(']', clocks),
                     std::min(comma, line.size()));
  const std::string_view behind =
      line.substr(std::min(bar.end + 1, line.size()));
  // "1.2s/epoch".
  const size_t word = behind.find("epoch");
  const bool of_epochs =
      word != behind.npos && word < behind.find_first_of(",]");
  bar.step = {ratio.part, ratio.whole, EpochOfTitle(line, bar.begin),
              of_epochs};
  return bar;
}

std::optional<StepPlace> StepBehindDrawing(std::string_view line) {
  constexpr std::string_view kDrawn = ">=#.-* ";
  constexpr size_t kShortest = 5;  // bytes of a bar and its bracket; ours
  std::optional<StepPlace> place;
  for (size_t at = line.find(']'); at != line.npos;
       at = line.find(']', at + 1)) {
    const size_t open = line.find_last_not_of(kDrawn, at - (at > 0));
    const bool drawn =
        open != line.npos && line[open] == '[' && at - open > kShortest;
    if (!drawn) continue;
    Scan scan(line, at + 1);
    Scan share = scan;  // "] 8.5% 5000/58874"
    if (share.Skip(" ") && share.Number() && share.Skip("% ")) scan = share;
    const std::optional<Ratio> ratio = ReadRatio(&scan);
    const char next = scan.peek();
    const bool ends = next == '\0' || next == ',' || next == ' ' || next == ';';
    if (!ratio || ratio->part > ratio->whole || !ends) continue;
    const auto epoch = place ? std::optional(place->step) : std::nullopt;
    place = StepPlace{ratio->part, ratio->whole, epoch};
  }
  return place;
}

size_t EndOfGluedBar(std::string_view line) {
  constexpr std::string_view kSign = "%|";
  const size_t first = line.find(kSign);
  if (first == line.npos) return line.npos;
  const size_t next = line.find(kSign, first + kSign.size());
  if (next == line.npos) return line.npos;
  const std::string_view before = line.substr(0, next);
  int depth = 0;
  for (size_t at = before.find('[', first); at < before.size();
       at = before.find_first_of("[]", at + 1)) {
    depth += before[at] == '[' ? 1 : -1;
    if (depth == 0) return at + 1;
  }
  return line.npos;
}

std::optional<StepPlace> PartOfBar(std::string_view text) {
  Scan scan(text);
  if (!scan.Skip("%|") || !scan.To("| ")) return std::nullopt;
  const std::optional<Ratio> bar = ReadRatio(&scan);
  if (!bar) return std::nullopt;
  return StepPlace{bar->part, bar->whole, std::nullopt};
}

}  // namespace nanwatch
