#include "logs/turned_value.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "logs/in_words.h"
#include "logs/next_sign.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

bool IsOfName(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '/' || c == '-';
}

// The name that ends `text`, quotes and blanks apart.
std::string_view NameAtEnd(std::string_view text) {
  const size_t last = text.find_last_not_of(" '\"");
  if (last == std::string_view::npos) return "";
  size_t begin = last + 1;
  while (begin > 0 && IsOfName(text[begin - 1])) --begin;
  return text.substr(begin, last + 1 - begin);
}

}  // namespace

void TurnedValue::Note(std::string_view name, double value) {
  if (name.empty() || IsDigit(name[0]) || IsEvaluation(name)) return;
  const auto known =
      std::find_if(known_.begin(), known_.end(),
                   [name](const Known& k) { return k.name == name; });
  if (std::isfinite(value)) {
    if (known != known_.end()) {
      ++known->numbers;
    } else if (known_.size() < kNames) {
      known_.push_back({std::string(name), 1});
    }
  } else if (known != known_.end() && known->numbers >= kKnown) {
    found_ = lines_;
    name_ = name;
  }
}

void TurnedValue::Look(std::string_view line) {
  ++lines_;
  for (size_t at = NextSign(line, 0); at < line.size() && found_ == 0;
       at = NextSign(line, at + 1)) {
    Scan scan(line, at + 1);
    scan.SkipBlanks();
    const std::optional<double> value = Scan(InsideCall(scan.rest())).Number();
    if (value) Note(NameAtEnd(line.substr(0, at)), *value);
  }
}

}  // namespace nanwatch
