#include "logs/bare_numbers.h"

#include <algorithm>

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
  constexpr std::string_view kLosses[] = {"loss", "losses", "cost",  "costs",
                                          "nll",  "mse",    "error", "errors"};
  constexpr std::string_view kRewards[] = {"reward", "rewards", "return",
                                           "returns"};
  std::string words;  // "val Loss" of "val_loss" and "valLoss"
  for (const char c : name) {
    const bool begins = !words.empty() && IsLower(words.back()) && !IsLower(c);
    if (begins) words += ' ';
    words += IsLetter(c) ? c : ' ';
  }
  What what = What::kNothing;
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = LowerCase(words.substr(begin, end - begin));
    if (IsOneOf(word, kLosses)) what = What::kLoss;
    if (IsOneOf(word, kRewards)) return What::kReward;
    begin = end + 1;
  }
  const bool evaluation = what == What::kLoss && IsEvaluation(words);
  return evaluation ? What::kEvaluation : what;
}

void BareNumbers::SetFile(std::string_view file) {
  file.remove_prefix(file.find_last_of("/\\") + 1);
  what_ = MeaningOf(file.substr(0, file.rfind('.')));
}

std::string_view BareNumbers::Name(std::string_view line) {
  std::string_view text = TrimBlanks(line);
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) return line;
  const int numbers = CountNumbers(text);
  if (numbers == 0) {
    const What what = MeaningOf(text);
    const bool header = state_ == State::kBegins
                            ? what != What::kNothing &&
                                  text.size() <= kHeaderMost &&
                                  std::ranges::all_of(text, IsOfName)
                            : text == header_;
    if (header) {
      header_ = text;
      what_ = what;
      state_ = State::kNumbers;
    } else {
      state_ = State::kOver;
    }
    return line;
  }
  // A header of several columns is a table's.
  state_ = header_.empty() || numbers == 1 ? State::kNumbers : State::kOver;
  if (state_ == State::kOver) return line;
  ++lines_;
  const std::string number = std::to_string(lines_);
  switch (what_) {
    case What::kNothing:
      return line;
    case What::kLoss:
      line_ = "loss ";
      break;
    case What::kEvaluation:
      if (numbers > 1) return line;
      line_ = "epoch " + number + ": val_loss=";
      break;
    case What::kReward:
      line_ = numbers > 1 ? "reward " : "episode " + number + " reward ";
      break;
  }
  line_ += text;
  return line_;
}

}  // namespace nanwatch
