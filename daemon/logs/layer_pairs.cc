#include "logs/layer_pairs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNameMax = 128;

bool IsOfToken(char c) {
  return IsLetter(c) || IsDigit(c) ||
         std::string_view("_./[]-+@").find(c) != std::string_view::npos;
}

// "grad_norm", "|g|", "grads": what follows is one.
bool IsHeading(std::string_view letters) {
  static constexpr std::string_view kWords[] = {
      "grad",         "grads",         "gradient", "gradients",
      "gradnorm",     "gradnorms",     "gnorm",    "gnorms",
      "gradientnorm", "gradientnorms", "g"};
  return IsOneOf(letters, kWords);
}

// "grad_norm/fc1", "gnorm[fc1]", "fc1.grad": of a layer, and not of all.
bool NamesLayer(std::string_view token, std::string_view letters) {
  static constexpr std::string_view kMarks[] = {"gradientnorm", "gradnorm",
                                                "gnorm", "grad"};
  static constexpr std::string_view kOfAll[] = {
      "",      "max",   "clip",  "total",  "global", "mean",   "threshold",
      "train", "model", "optim", "actor",  "critic", "policy", "metrics",
      "stats", "perf",  "s",     "scaled", "all",    "clipped"};
  if (token.find_first_of("./[") == token.npos || IsHeading(letters)) {
    return false;
  }
  for (const std::string_view mark : kMarks) {
    const size_t at = letters.find(mark);
    if (at == letters.npos) continue;
    if (mark == "grad" && !token.starts_with("grad/") &&
        !token.ends_with(".grad") && !token.ends_with("/grad")) {
      return false;
    }
    std::string rest(letters.substr(0, at));
    rest += letters.substr(at + mark.size());
    return !IsOneOf(rest, kOfAll) ||
           token.find_first_of("0123456789") != token.npos;
  }
  return false;
}

// What stands behind the norms of layers, or among them, and is none.
bool IsOther(std::string_view letters) {
  static constexpr std::string_view kWords[] = {
      "",      "lr",    "loss",        "time",    "step",   "steps",
      "epoch", "iter",  "it",          "clip",    "max",    "min",
      "mean",  "total", "all",         "global",  "norm",   "std",
      "scale", "mem",   "memory",      "acc",     "eta",    "s",
      "ms",    "dt",    "overflow",    "skipped", "tensor", "device",
      "cuda",  "npu",   "npfloat",     "float",   "tokens", "wd",
      "beta",  "rate",  "accumulation"};
  return IsOneOf(letters, kWords);
}

// "fc1" of "grad_norm/fc1", "gnorm[fc1]", "fc1.grad".
std::string_view BareName(std::string_view token) {
  const size_t open = token.find('[');
  if (open != token.npos && token.ends_with(']')) {
    return token.substr(open + 1, token.size() - open - 2);
  }
  const size_t first = token.find('/');
  if (first != token.npos && IsHeading(LettersOf(token.substr(0, first)))) {
    return token.substr(first + 1);
  }
  const size_t last = token.find_last_of("./");
  if (last != token.npos && IsHeading(LettersOf(token.substr(last + 1)))) {
    return token.substr(0, last);
  }
  return token;
}

// "stem" of "|g_stem|", whose bars stand around `token`; empty: it is none.
std::string_view NameInBars(std::string_view line, std::string_view token) {
  const size_t begin = static_cast<size_t>(token.data() - line.data());
  const size_t end = begin + token.size();
  const bool bars =
      begin > 0 && line[begin - 1] == '|' && line.substr(end).starts_with("|");
  for (const std::string_view mark : {"g_", "grad_"}) {
    if (bars && token.starts_with(mark)) return token.substr(mark.size());
  }
  return {};
}

double LastDigit(std::string_view number) {
  if (number.find_first_of("eE") != number.npos) return 0;
  const size_t point = number.find('.');
  if (point == number.npos) return 1;
  return std::pow(10.0, -static_cast<double>(number.size() - point - 1));
}

}  // namespace

std::string LettersOf(std::string_view text) {
  std::string letters;
  for (const char c : text.substr(0, kNameMax)) {
    if (IsLetter(c)) letters += Lower(c);
  }
  return letters;
}

bool ReadLayerPairs(std::string_view line, std::vector<LayerPair>* pairs) {
  std::string_view name;   // before the next number
  std::string_view title;  // of the line: "fc1.weight  norm=3 grad_norm=0.3"
  bool of_layer = false;  // it is a layer's by itself, or by the word behind it
  bool heading = false;   // what follows are layers
  size_t listed = 0;      // pairs before them
  bool speaks = false;
  bool begins = true;  // no word came before
  size_t at = 0;
  while (at < line.size()) {
    size_t end = at;
    while (end < line.size() && IsOfToken(line[end])) ++end;
    const std::string_view token = line.substr(at, end - at);
    const bool joined = at > 0 && line[at - 1] != ' ';
    at = end + 1;
    // A list of layers ends with its bracket or at the next bar.
    const char sign = end < line.size() ? line[end] : ' ';
    const bool ends =
        sign == '}' || sign == ')' || (sign == '|' && pairs->size() > listed);
    if (token.empty()) {
      if (sign == ',') name = {};
      if (ends) heading = false;
      continue;
    }
    if (const std::optional<double> number = WholeNumber(token)) {
      if (!name.empty() && (of_layer || heading)) {
        pairs->push_back({name, *number, LastDigit(token)});
      } else {
        heading = heading && !name.empty();
      }
      name = {};
      of_layer = false;
      if (ends) heading = false;
      continue;
    }
    const std::string letters = LettersOf(token);
    if (begins && !letters.empty() && !IsHeading(letters) &&
        token.find_first_of("./") != token.npos) {
      title = token;
    }
    begins = false;
    if (IsHeading(letters)) {
      speaks = true;
      if (name.empty()) name = std::exchange(title, {});
      // "fc1.weight grad_norm 0.3"
      of_layer =
          !name.empty() && !joined && name.find_first_of("./") != name.npos;
      heading = !of_layer;
      listed = pairs->size();
      if (!of_layer) name = {};
      continue;
    }
    const std::string_view in_bars = NameInBars(line, token);
    of_layer = !in_bars.empty() || NamesLayer(token, letters);
    speaks |= of_layer;
    name = !in_bars.empty()    ? in_bars
           : of_layer          ? BareName(token)
           : !IsOther(letters) ? token
                               : std::string_view();
    if (name.empty() && heading) heading = letters != "loss" && letters != "lr";
  }
  return speaks;
}

std::optional<double> NormOfPairs(std::string_view line) {
  if (line.find("rad") == line.npos && line.find("gnorm") == line.npos) {
    return std::nullopt;
  }
  std::vector<LayerPair> pairs;
  ReadLayerPairs(line, &pairs);
  if (pairs.size() < 2) return std::nullopt;
  double squares = 0;
  for (const LayerPair& pair : pairs) squares += pair.norm * pair.norm;
  return std::sqrt(squares);
}

void GradColumn::Read(std::string_view line, std::vector<LayerPair>* pairs) {
  static constexpr std::string_view kFirst[] = {
      "layer", "name", "param", "parameter", "module", "tensor", "weight"};
  constexpr size_t kMost = 16;
  std::string_view words[kMost];
  size_t count = 0;
  for (size_t at = 0; at < line.size() && count < kMost;) {
    const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (!word.empty() && word != "|") words[count++] = word;
    at = end + 1;
  }
  const auto is_number = [](std::string_view word) {
    return WholeNumber(word).has_value();
  };
  if (words_ > 0 && count == words_ && !is_number(words[0]) &&
      !IsOther(LettersOf(words[0])) &&
      std::all_of(words + 1, words + count, is_number)) {
    pairs->push_back(
        {words[0], *WholeNumber(words[at_]), LastDigit(words[at_])});
    return;
  }
  words_ = 0;
  if (count < 2 || count == kMost || !IsOneOf(LettersOf(words[0]), kFirst)) {
    return;
  }
  for (at_ = 1; at_ < count && !IsHeading(LettersOf(words[at_]));) ++at_;
  if (at_ < count && std::none_of(words, words + count, is_number)) {
    words_ = count;
  }
}

}  // namespace nanwatch
