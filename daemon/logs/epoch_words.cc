// What lines say of their epoch (in_words.h).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/find_word.h"
#include "logs/in_words.h"
#include "logs/named_number.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// The number behind an "epoch" that ends before `at`.
std::optional<double> NumberBehindEpoch(std::string_view line, size_t at,
                                        std::string_view* rest) {
  *rest = line.substr(at);
  rest->remove_prefix(
      std::min(rest->find_first_not_of(" '\":=[#"), rest->size()));
  Scan scan(*rest);
  const std::optional<double> epoch = scan.Number();
  *rest = scan.rest();
  return epoch;
}

// "Pass 0, Batch 500", "training: 4 batch 0": right before a batch other words
// stand for an epoch's, too.
std::optional<double> EpochBeforeBatch(std::string_view line) {
  constexpr std::string_view kWords[] = {"pass", "training", "train", "ep"};
  const size_t at = FindWord(line, "atch");
  if (at == line.npos || at == 0 || (line[at - 1] | 0x20) != 'b') {
    return std::nullopt;
  }
  std::string_view before = line.substr(0, at - 1);
  const auto trim = [&before](std::string_view signs) {
    before = before.substr(0, before.find_last_not_of(signs) + 1);
  };
  trim(" ,;|");
  const std::string_view numbered = before;
  trim("0123456789");
  const std::string_view number = numbered.substr(before.size());
  trim(" :=#");
  const std::string_view word = LastWord(before);
  const bool named = before.ends_with(word) && IsOneOf(LowerCase(word), kWords);
  return number.empty() || !named ? std::nullopt : Scan(number).Number();
}

// "ep=3", "[FT] Ep: 3": a word of its own.
std::optional<double> EpochCutShort(std::string_view line) {
  for (const std::string_view end : {"p=", "p:"}) {
    size_t at = FindWord(line, end, 1);
    for (; at != line.npos; at = FindWord(line, end, at + 1)) {
      if ((line[at - 1] | 0x20) != 'e') continue;
      if (at > 1 && IsLetterOrMark(line[at - 2])) continue;
      Scan scan(line, at + end.size());
      if (const auto epoch = scan.Number()) return epoch;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> EpochInWords(std::string_view line) {
  constexpr std::string_view kWord = "poch";
  // "ep0005 ".
  if (line.size() > 3 && line.starts_with("ep") && IsDigit(line[2])) {
    Scan scan(line, 2);
    const std::optional<double> epoch = scan.Number();
    if (epoch && scan.peek() == ' ') return epoch;
  }
  size_t at = FindWord(line, kWord, 1);
  for (; at != std::string_view::npos; at = FindWord(line, kWord, at + 1)) {
    const char initial = line[at - 1];
    if (initial != 'e' && initial != 'E') continue;
    if (at > 1 && IsLetterOrMark(line[at - 2])) continue;
    std::string_view rest;
    const auto epoch = NumberBehindEpoch(line, at + kWord.size(), &rest);
    if (epoch) return epoch;
  }
  if (const auto epoch = EpochCutShort(line)) return epoch;
  return EpochBeforeBatch(line);
}

std::optional<EpochHeading> EpochAlone(std::string_view line) {
  constexpr std::string_view kSigns = " \t-=*#[]()<>|:.";
  // Most lines have none.
  size_t at = std::min(FindWord(line, "poch"), FindWord(line, "POCH"));
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  --at;
  if ((line[at] | 0x20) != 'e') return std::nullopt;
  EpochHeading heading;
  // Before it signs and clocks, or a word that says what begins.
  const std::string_view before = line.substr(0, at);
  if (std::any_of(before.begin(), before.end(), IsLetter)) {
    constexpr std::string_view kBegins[] = {"start",    "starting", "begin",
                                            "training", "train",    "info",
                                            "root",     "main"};
    const std::string_view word = LastWord(before);
    // Not "best val epoch".
    const std::string_view title = TrimBlanks(
        before.substr(0, static_cast<size_t>(word.data() - before.data())));
    heading.evaluation =
        IsEvaluation(word) && (title.empty() || !IsLetter(title.back()));
    if (!heading.evaluation && !IsOneOf(LowerCase(word), kBegins)) {
      return std::nullopt;
    }
  }
  std::string_view rest;
  const std::optional<int64_t> epoch =
      AsCount(NumberBehindEpoch(line, at + 5, &rest));
  if (!epoch || *epoch > kCountMax) return std::nullopt;
  heading.epoch = *epoch;
  Scan scan(rest);
  scan.SkipBlanks();
  if (scan.Skip("/") || scan.Skip("of ")) {
    const std::optional<double> whole = scan.Number();
    if (!whole) return std::nullopt;
    heading.whole = AsCount(whole).value_or(0);
  }
  const bool alone =
      scan.rest().find_first_not_of(kSigns) == std::string_view::npos;
  return alone ? std::optional(heading) : std::nullopt;
}

}  // namespace nanwatch
