#include "logs/loss_parts.h"

#include <algorithm>

#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

bool IsOfName(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '/' || c == '-';
}

// What is no part: another view of the whole.
bool IsOfWhole(std::string_view name) {
  constexpr std::string_view kWords[] = {"scale",  "best",  "min",    "avg",
                                         "mean",   "total", "smooth", "ema",
                                         "weight", "coef",  "time"};
  return std::any_of(
      std::begin(kWords), std::end(kWords),
      [name](std::string_view word) { return name.find(word) != name.npos; });
}

}  // namespace

bool IsPartOfLoss(std::string_view name) {
  const bool named = name.ends_with("loss") || name.ends_with("Loss") ||
                     name.starts_with("loss_") || name.starts_with("loss/");
  return named && name.size() > 4 && !IsEvaluation(name) && !IsOfWhole(name);
}

size_t WithinLosses(std::string_view line, size_t at) {
  std::string_view before = line.substr(0, at);
  while (before.ends_with('\'') || before.ends_with('"')) {
    before.remove_suffix(1);
  }
  if (!before.ends_with("losses") && !before.ends_with("Losses")) return 0;
  const size_t open = line.find_first_not_of(' ', at + 1);
  if (open == line.npos || line[open] != '{') return 0;
  const size_t close = line.find('}', open);
  return close == line.npos ? line.size() : close;
}

bool LossParts::Look(std::string_view before, std::string_view behind) {
  while (!before.empty() && (before.back() == ' ' || before.back() == '\'' ||
                             before.back() == '"')) {
    before.remove_suffix(1);
  }
  size_t begin = before.size();
  while (begin > 0 && IsOfName(before[begin - 1])) --begin;
  return IsPartOfLoss(before.substr(begin)) && Take(behind);
}

bool LossParts::Take(std::string_view behind) {
  behind.remove_prefix(
      std::min(behind.find_first_not_of(" '\"[("), behind.size()));
  const std::optional<double> value = Scan(InsideCall(behind)).Number();
  if (!value) return false;
  ++parts_;
  sum_ += *value;
  return true;
}

}  // namespace nanwatch
