#include "dumps/norm_line.h"

#include <algorithm>
#include <string>

#include "dumps/number_text.h"

namespace nanwatch {
namespace {

// Longer lines are none that a person prints for a parameter.
constexpr size_t kLineMax = 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsOfName(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '.' || c == '/';
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

bool Holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// "layers.0.mlp.weight", "h/0/kernel": parts with nothing empty, the last one
// what a layer has, where no word says that it is a norm: "model.0.rate: 0.1"
// is a setting.
bool IsParameter(std::string_view token, bool normed) {
  constexpr std::string_view kLast[] = {"weight", "bias",  "kernel",    "gamma",
                                        "beta",   "scale", "embedding", "grad"};
  if (IsDigit(token.front())) return false;
  bool known = normed, letter = false;
  size_t parts = 0;
  for (;;) {
    const size_t end = std::min(token.find_first_of("./"), token.size());
    const std::string_view part = token.substr(0, end);
    if (part.empty()) return false;
    ++parts;
    letter = letter || std::any_of(part.begin(), part.end(), IsLetter);
    if (end == token.size()) {
      known = known || std::find(std::begin(kLast), std::end(kLast), part) !=
                           std::end(kLast);
      return parts > 1 && known && letter;
    }
    token.remove_prefix(end + 1);
  }
}

// The number that `text` begins with, behind a sign or a bracket, and ends as
// one; nullopt: something else comes first.
std::optional<double> NumberAtFront(std::string_view text) {
  text.remove_prefix(
      std::min(text.find_first_not_of(" \t:=|,'\"()["), text.size()));
  constexpr std::string_view kTensor = "tensor(";
  if (text.starts_with(kTensor)) text.remove_prefix(kTensor.size());
  const size_t end = text.find_first_of(" \t,)]|'\";}");
  return NumberIn(text.substr(0, end));
}

// Of "NAME: 0.3", and no shape, which stands in brackets.
std::optional<double> NumberBehindSign(std::string_view rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t'\""), rest.size()));
  if (rest.empty() ||
      std::string_view(":=|").find(rest[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  return NumberAtFront(rest);
}

// Of "grad_norm=0.3 weight_norm=12" the gradient's, else the first.
std::optional<double> NumberBehindNorm(std::string_view rest,
                                       std::string_view lower) {
  constexpr std::string_view kNorm = "norm";
  std::optional<double> first;
  size_t before = 0;
  for (size_t at = lower.find(kNorm); at != std::string_view::npos;
       at = lower.find(kNorm, at + 1)) {
    const std::optional<double> number =
        NumberAtFront(rest.substr(at + kNorm.size()));
    if (number && Holds(lower.substr(before, at - before), "grad")) {
      return number;
    }
    if (number && !first) first = number;
    before = at;
  }
  return first;
}

NormedThing ThingOf(std::string_view around, std::string_view name) {
  if (Holds(around, "grad") || Holds(around, "backward") ||
      Holds(name, "grad")) {
    return NormedThing::kGradient;
  }
  return Holds(around, "weight") || Holds(around, "param")
             ? NormedThing::kWeight
             : NormedThing::kUnknown;
}

}  // namespace

std::optional<NormLine> ReadNormLine(std::string_view line) {
  if (line.size() > kLineMax) return std::nullopt;
  const std::string lower = Lower(line);
  const bool normed = Holds(lower, "norm");
  // What stands nearest before the number is its name.
  for (size_t end = line.size(); end > 0;) {
    while (end > 0 && !IsOfName(line[end - 1])) --end;
    size_t begin = end;
    while (begin > 0 && IsOfName(line[begin - 1])) --begin;
    if (begin == end) break;
    std::string_view token = line.substr(begin, end - begin);
    while (!token.empty() && (token.back() == '.' || token.back() == '/')) {
      token.remove_suffix(1);
    }
    if (!token.empty() && IsParameter(token, normed)) {
      const std::string_view rest = line.substr(end);
      const std::string_view behind = std::string_view(lower).substr(end);
      const std::optional<double> number = Holds(behind, "norm")
                                               ? NumberBehindNorm(rest, behind)
                                           : normed ? NumberAtFront(rest)
                                                    : NumberBehindSign(rest);
      if (!number) return std::nullopt;
      const std::string_view name =
          std::string_view(lower).substr(begin, token.size());
      const std::string around = lower.substr(0, begin) + lower.substr(end);
      return NormLine{token, *number, ThingOf(around, name)};
    }
    end = begin;
  }
  return std::nullopt;
}

}  // namespace nanwatch
