#include "logs/turned_value.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/next_sign.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {

void TurnedValue::Follow(double value, Known* known) {
  ++known->numbers;
  if (known->numbers == 1) known->first = value;
  known->ups += known->numbers > 1 && value > known->newest ? 1 : 0;
  known->newest = value;
  // At 2, 4, 8 and so on numbers.
  if ((known->numbers & (known->numbers - 1)) == 0) {
    known->half = known->next_half;
    known->next_half = value;
  }
}

TurnedValue::Growth TurnedValue::grown() const {
  constexpr int kLeast = 8;         // numbers; ours
  constexpr double kGrowth = 1e4;   // from the first; ours
  constexpr double kFaster = 30;    // from the half: of a line 4 at most; ours
  constexpr double kMostUps = 0.9;  // of all; ours
  for (const Known& each : known_) {
    const bool rises = each.numbers >= kLeast &&
                       each.ups >= kMostUps * (each.numbers - 1) &&
                       each.first > 0;
    if (rises && each.newest >= kGrowth * each.first &&
        each.newest >= kFaster * each.half &&
        UsualMeaning(each.name) == ColumnMeaning::kNothing) {
      return {each.name, each.first, each.newest};
    }
  }
  return {};
}

void TurnedValue::Note(std::string_view name, double value) {
  if (name.empty() || IsDigit(name[0]) || IsEvaluation(name)) return;
  const auto known =
      std::find_if(known_.begin(), known_.end(),
                   [name](const Known& k) { return k.name == name; });
  if (std::isfinite(value)) {
    if (known != known_.end()) {
      Follow(value, &*known);
    } else if (known_.size() < kNames) {
      known_.push_back({.name = std::string(name)});
      Follow(value, &known_.back());
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
