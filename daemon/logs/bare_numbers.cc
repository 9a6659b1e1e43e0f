#include "logs/bare_numbers.h"

#include <algorithm>

#include "logs/each_word.h"
#include "logs/in_words.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// A header is no sentence; ours.
constexpr size_t kHeaderMost = 40;  // bytes

// Returns how many numbers `line` is made of, "2.31", "40, 2.31", "[1.2e-3]",
// "nan"; 0: something else is in it.
int CountNumbers(std::string_view line) {
  constexpr std::string_view kBetween = " \t,;[]|";
  int numbers = 0;
  Scan scan(line);
  while (!scan.done()) {
    if (kBetween.find(scan.peek()) != kBetween.npos) {
      scan.Skip(scan.peek());
    } else if (scan.Number()) {
      ++numbers;
    } else {
      return 0;
    }
  }
  return numbers;
}

bool IsOfName(char c) { return IsLetterOrMark(c) || c == ' ' || c == '/'; }

}  // namespace

BareNumbers::What BareNumbers::MeaningOf(std::string_view name) {
  constexpr static std::string_view kLosses[] = {
      "loss", "losses", "cost", "costs", "nll", "mse", "error", "errors"};
  constexpr static std::string_view kRewards[] = {"reward", "rewards", "return",
                                                  "returns"};
  // Of samples, or of a part of the run: in no order, or no loss at all.
  constexpr static std::string_view kOthers[] = {
      "sorted",    "settings", "setting", "config",  "packet", "stop",
      "landscape", "surface",  "weight",  "weights", "sample", "samples",
      "scale",     "rate",     "time",    "times"};
  std::string words;  // "val Loss" of "val_loss" and "valLoss"
  for (const char c : name) {
    const bool begins = !words.empty() && IsLower(words.back()) && !IsLower(c);
    if (begins) words += ' ';
    words += IsLetter(c) ? c : ' ';
  }
  What what = What::kNothing;
  bool other = false;
  ForEachWord(words, [&](std::string_view word) {
    if (other || what == What::kReward) return;
    other = IsOneOf(word, kOthers);
    if (IsOneOf(word, kLosses)) what = What::kLoss;
    if (IsOneOf(word, kRewards)) what = What::kReward;
  });
  if (other) return What::kNothing;
  const bool evaluation = what == What::kLoss && IsEvaluation(words);
  return evaluation ? What::kEvaluation : what;
}

void BareNumbers::SetFile(std::string_view file) {
  file.remove_prefix(file.find_last_of("/\\") + 1);
  what_ = MeaningOf(file.substr(0, file.rfind('.')));
}

std::string_view BareNumbers::Name(std::string_view line) {
  const std::string_view text = TrimBlanks(line);
  if (text.empty()) return line;
  const int numbers = CountNumbers(text);
  if (state_ == State::kBegins && numbers == 0) {
    what_ = MeaningOf(text);
    const bool header = what_ != What::kNothing && text.size() <= kHeaderMost &&
                        std::ranges::all_of(text, IsOfName);
    if (header) header_ = text;
    state_ = header ? State::kNumbers : State::kOver;
    return line;
  }
  state_ = State::kNumbers;
  // A number where it began and one behind it are a step and the loss. Of more
  // nobody knows which it is: they are a table's.
  const size_t end = text.find_first_not_of("0123456789");
  const bool stepped = numbers == 2 && end > 0 && end < text.size() &&
                       text[end] != '.' && what_ == What::kLoss;
  const bool table =
      lines_ == 0 && numbers > 1 && (!stepped || !header_.empty());
  if (table || (numbers == 0 && !named())) {
    state_ = State::kOver;
    return line;
  }
  // "None" and "297,**" stand where numbers were; sentences say something else.
  const bool one = IsDigit(text[0]) || text.find_first_of(" \t") == text.npos;
  if (text == header_ || (numbers == 0 && !one)) return line;
  ++lines_;
  if (!named()) return line;
  line_ = what_ == What::kLoss ? "loss "
          : what_ == What::kEvaluation
              ? "epoch " + std::to_string(lines_) + ": val_loss="
              : "episode " + std::to_string(lines_) + " reward ";
  line_ += text;
  return line_;
}

}  // namespace nanwatch
