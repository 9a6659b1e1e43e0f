#include "logs/names_before.h"

#include <cstdint>

#include "logs/in_words.h"
#include "logs/loss_parts.h"
#include "logs/one_of.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

constexpr auto kNameCharacters = [] {
  std::array<bool, 256> names{};
  constexpr std::string_view kMarks = "_/-.@";
  for (size_t i = 0; i < names.size(); ++i) {
    const char c = static_cast<char>(i);
    names[i] = IsLetter(c) || IsDigit(c) || kMarks.find(c) != kMarks.npos;
  }
  return names;
}();

// Words before "scale" that leave it a loss scale's: "current scale". Others
// have scales, too: "Logit Scale", "guidance scale".
bool MaySpeakOfLossScale(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "new", "current", "now",  "the",      "fp16", "amp",    "dynamic", "nan",
      "inf", "mixed",   "half", "gradient", "step", "scaler", "is",      "and"};
  return IsOneOf(LowerCase(word), kWords);
}

// "episode steps: 185" is a length, "time per step: 0.41" a rate.
bool CountsStepsOf(std::string_view word) {
  return word == "episode" || word == "Episode" || word == "ep" ||
         IsOfEach(word);
}

// "batch avg ctc ", before "loss".
bool IsOfMean(std::string_view before) {
  constexpr std::string_view kMeans[] = {"avg", "mean", "average"};
  return HasOneOf(LowerCase(before), kMeans);
}

// "Time cost", "elapsed cost". A unit belongs to the number before: "3 sec
// cost".
bool IsOfTime(std::string_view before, std::string_view name) {
  const std::string_view word = TrimBlanks(before);
  if (word.ends_with("Time") || word.ends_with("time")) return true;
  if (LowerCase(name) != "cost" || word.empty() || !IsLetter(word.back())) {
    return false;
  }
  const std::string last = LowerCase(LastWord(word));
  return NamesTime(last) && !NamesUnitOfTime(last);
}

// "scale" alone, whatever of.
bool IsPlainScale(std::string_view name) {
  return name == "scale" || name == "Scale" || name == "SCALE";
}

}  // namespace

bool IsNameCharacter(char c) {
  return kNameCharacters[static_cast<uint8_t>(c)];
}

std::string_view NameAtEnd(std::string_view text) {
  text = TrimQuotes(text);
  size_t begin = text.size();
  while (begin > 0 && IsNameCharacter(text[begin - 1])) --begin;
  return text.substr(begin);
}

bool EndsWithNorm(std::string_view text) {
  static constexpr std::string_view kNorms[] = {"|g|",   "|grad|",   "|G|",
                                                "||g||", "||grad||", "||G||"};
  text = TrimBlanks(text);
  if (!text.ends_with('|')) return false;
  text.remove_prefix(text.find_last_of(' ') + 1);
  return IsOneOf(text, kNorms);
}

size_t BehindNumber(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && line[end] == ' ') ++end;
  if (end + 1 < line.size() && line[end] == '-') ++end;
  if (end >= line.size() || !IsDigit(line[end])) return at;
  while (end < line.size() && IsNameCharacter(line[end])) ++end;
  return end;
}

Ending NamesBefore::Look(std::string_view text, std::string_view name) {
  if (!names_.mapped() && EndsWithNorm(name)) {
    return {ColumnMeaning::kWeakNorm, text.size() - name.rfind(' ') - 1};
  }
  size_t begin = name.size();
  std::array<size_t, 3> word{};
  size_t words = 0;
  while (words < word.size()) {
    const size_t end = begin;
    while (begin > 0 && IsNameCharacter(name[begin - 1])) --begin;
    if (begin == end) break;
    // Clocks and the like, of which a log is full.
    if (words == 0 && IsDigit(name[begin]) && !names_.mapped()) return {};
    word[words++] = begin;
    if (begin == 0 || name[begin - 1] != ' ') break;
    --begin;
  }
  const size_t all = words;
  while (words > 0) {
    const size_t from = word[--words];
    // The value before: "2.31 scale". No usual name begins with a digit.
    if (IsDigit(name[from]) && !names_.mapped()) continue;
    const ColumnMeaning meaning = names_.Of(name.substr(from));
    if (meaning == ColumnMeaning::kNothing) {
      const bool sought = words == 0 && !names_.mapped();
      const ColumnMeaning other = sought ? EvaluationMeaning(name.substr(from))
                                         : ColumnMeaning::kNothing;
      // "valid_0's l2".
      if (sought && NeedsItsSet(name.substr(from)) &&
          name.substr(0, from).ends_with("'s ")) {
        const size_t set = name.find_last_of(" \t,|;(", from - 2) + 1;
        const bool evaluation = IsEvaluation(name.substr(set, from - set));
        return {ColumnMeaning::kWeakMeasure,
                text.size() - (evaluation ? set : from), evaluation};
      }
      if (other == ColumnMeaning::kNothing) continue;
      return {other, text.size() - from, true};
    }
    if (meaning == ColumnMeaning::kLossScale && words == 0 && all > 1 &&
        !names_.mapped() && IsLetter(name[word[1]]) &&
        !MaySpeakOfLossScale(name.substr(word[1], from - 1 - word[1])) &&
        IsPlainScale(name.substr(from))) {
      return {};
    }
    if (meaning == ColumnMeaning::kStep &&
        (name[from] == '/' ||
         (words == 0 && all > 1 &&
          CountsStepsOf(name.substr(word[1], from - 1 - word[1]))))) {
      return {};
    }
    const bool loss = IsAnyLoss(meaning);
    if (!loss || names_.mapped() || from == 0) {
      return {meaning, text.size() - from};
    }
    if (IsOfTime(name.substr(0, from), name.substr(from))) return {};
    // "Val Loss", "Val. Loss".
    const size_t end = text.find_last_not_of(' ', from - 1);
    if (end == std::string_view::npos) return {meaning, text.size() - from};
    const size_t blank = text.find_last_of(" \t,|;(", end);
    const size_t before = blank == std::string_view::npos ? 0 : blank + 1;
    const bool term = meaning == ColumnMeaning::kLoss && words == 0 &&
                      all > 1 && MakesPart(name.substr(0, from));
    // "Val CE Loss".
    const size_t set = term && all > 2 ? word[2] : before;
    const bool evaluation = IsEvaluation(text.substr(set, from - set));
    return {!term                            ? meaning
            : IsOfMean(name.substr(0, from)) ? ColumnMeaning::kMeanTerm
                                             : ColumnMeaning::kTermLoss,
            text.size() - (evaluation ? set : from), evaluation};
  }
  return {};
}

}  // namespace nanwatch
