#include "logs/turned_value.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/next_sign.h"
#include "logs/scan.h"

namespace nanwatch {

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
    const std::optional<double> value = ValueAt(line.substr(at + 1));
    if (value) Note(NameAtEnd(line.substr(0, at)), *value);
  }
}

}  // namespace nanwatch
