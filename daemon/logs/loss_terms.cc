#include "logs/loss_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNameMax = 64;

bool IsNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_' || c == '/' || c == '.' || c == '-';
}

// The name that ends `text`, quotes and blanks apart.
std::string_view NameAtEnd(std::string_view text) {
  const size_t last = text.find_last_not_of(" '\"");
  if (last == std::string_view::npos) return "";
  size_t begin = last + 1;
  while (begin > 0 && IsNameCharacter(text[begin - 1])) --begin;
  return text.substr(begin, last + 1 - begin);
}

// A term's name has "loss" in it, and more than the words of a total.
bool IsTerm(std::string_view name) {
  if (name.size() > kNameMax || IsEvaluation(name)) return false;
  std::array<char, kNameMax> low{};
  std::transform(name.begin(), name.end(), low.begin(), Lower);
  std::string_view rest(low.data(), name.size());
  if (rest.find("loss") == std::string_view::npos ||
      rest.find("scale") != std::string_view::npos) {
    return false;
  }
  constexpr std::string_view kWords[] = {
      "loss",    "total", "train", "avg", "mean", "step", "epoch",
      "average", "batch", "sum",   "_",   "/",    ".",    "-"};
  while (!rest.empty()) {
    const auto word = std::find_if(
        std::begin(kWords), std::end(kWords),
        [rest](std::string_view each) { return rest.starts_with(each); });
    if (word == std::end(kWords)) return true;
    rest.remove_prefix(word->size());
  }
  return false;
}

}  // namespace

std::string_view TermNotFinite(std::string_view line) {
  std::string_view bad;
  int bads = 0;
  bool others = false;
  for (size_t at = line.find_first_of(":="); at != std::string_view::npos;
       at = line.find_first_of(":=", at + 1)) {
    const std::string_view name = NameAtEnd(line.substr(0, at));
    if (name.empty() || !IsTerm(name)) continue;
    const std::optional<double> value = Scan(line, at + 1).Number();
    if (!value) continue;
    others |= std::isfinite(*value);
    if (std::isfinite(*value) || name == bad) continue;
    bad = name;
    ++bads;
  }
  return others && bads == 1 ? bad : "";
}

}  // namespace nanwatch
