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

}  // namespace

std::optional<double> EpochInWords(std::string_view line) {
  constexpr std::string_view kWord = "poch";
  // "ep=3", at the start alone: in a line it may be anything.
  if (line.starts_with("ep=") || line.starts_with("ep:") ||
      line.starts_with("Ep=") || line.starts_with("Ep:")) {
    return Scan(line, 3).Number();
  }
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
  return EpochBeforeBatch(line);
}

std::optional<int64_t> EpochAlone(std::string_view line) {
  constexpr std::string_view kSigns = " \t-=*#[]()<>|:.";
  // Most lines have none.
  size_t at = std::min(FindWord(line, "poch"), FindWord(line, "POCH"));
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  --at;
  if ((line[at] | 0x20) != 'e') return std::nullopt;
  // Before it signs, or a word that says that it begins.
  const std::string_view before = line.substr(0, at);
  if (before.find_first_not_of(kSigns) != std::string_view::npos) {
    constexpr std::string_view kBegins[] = {"start",    "starting", "begin",
                                            "training", "train",    "info",
                                            "root",     "main"};
    if (!IsOneOf(LowerCase(LastWord(before)), kBegins)) return std::nullopt;
  }
  std::string_view rest;
  const std::optional<int64_t> epoch =
      AsCount(NumberBehindEpoch(line, at + 5, &rest));
  if (!epoch || *epoch > kCountMax) return std::nullopt;
  Scan scan(rest);
  scan.SkipBlanks();
  if ((scan.Skip("/") || scan.Skip("of ")) && !scan.Number()) {
    return std::nullopt;
  }
  const bool alone =
      scan.rest().find_first_not_of(kSigns) == std::string_view::npos;
  return alone ? epoch : std::nullopt;
}

bool BeginsEvaluation(std::string_view line) {
  constexpr std::string_view kBegins[] = {"epoch",    "begin",  "begins",
                                          "start",    "starts", "begun",
                                          "starting", "started"};
  constexpr std::string_view kLoggers[] = {"info", "root", "main"};
  std::string_view before;  // the word before
  for (size_t at = 0; at < line.size();) {
    size_t end = at;
    while (end < line.size() && IsLetter(line[end])) ++end;
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    if (word.empty() || IsOneOf(LowerCase(word), kLoggers)) continue;
    if (!before.empty()) return IsOneOf(LowerCase(word), kBegins);
    if (!IsEvaluation(word)) return false;
    before = word;
  }
  return false;
}

}  // namespace nanwatch
