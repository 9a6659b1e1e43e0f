// UsualLine: the step line of names and numbers that a log prints again and
// again. Once its names were found, they need not be looked for. Meaning: what
// a format knows of a number by its name.

#ifndef NANWATCH_LOGS_USUAL_LINE_H_
#define NANWATCH_LOGS_USUAL_LINE_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "logs/in_words.h"
#include "logs/line_template.h"

namespace nanwatch {

template <typename Meaning>
class UsualLine {
 public:
  // A value whose name was found, and where it begins, its blanks included.
  struct Placed {
    Meaning meaning;
    size_t at;
  };

  // A step line, as it was read. REQUIRES: what it says depends on `values` and
  // `bar` alone, and on its words.
  void Note(std::string_view line, const std::optional<BarPlace>& bar,
            const std::vector<Placed>& values) {
    // Two kinds of lines in turns: one of them is known.
    if (known_ && ++others_ < kOthers) return;
    known_ = Learn(line, bar, values);
    others_ = 0;
  }

  void Forget() { known_ = false; }
  bool known() const { return known_; }

  // `bar`: null: the line has none.
  bool Match(std::string_view line, const BarPlace* bar) {
    if (!known_ || (bar != nullptr) != in_bar_) return false;
    const bool same = bar != nullptr
                          ? head_.Match(line.substr(0, bar->begin), &heads_) &&
                                tail_.Match(line.substr(bar->end), &tails_)
                          : head_.Match(line, &heads_);
    if (!same) return false;
    others_ = 0;
    behind_ = bar != nullptr ? bar->end : 0;
    return true;
  }

  // Of the line that Match() found to be one.
  template <typename Read>
  void ForEachValue(Read read) const {
    for (const Value& value : values_) {
      read(Placed{value.meaning, value.in_tail ? behind_ + tails_[value.number]
                                               : heads_[value.number]});
    }
  }

 private:
  struct Value {
    Meaning meaning;
    bool in_tail;
    size_t number;  // of the head's or tail's
  };
  // Other step lines in a row, after which they are the usual ones.
  static constexpr int kOthers = 4;

  bool Learn(std::string_view line, const std::optional<BarPlace>& bar,
             const std::vector<Placed>& values) {
    in_bar_ = bar.has_value();
    const size_t end = bar ? bar->begin : line.size();
    const size_t behind = bar ? bar->end : line.size();
    if (!head_.Learn(line.substr(0, end)) ||
        !tail_.Learn(line.substr(behind)) ||
        !head_.Match(line.substr(0, end), &heads_) ||
        !tail_.Match(line.substr(behind), &tails_)) {
      return false;
    }
    values_.clear();
    for (const Placed& value : values) {
      const bool in_tail = value.at >= behind;
      const LineTemplate& part = in_tail ? tail_ : head_;
      const auto first = in_tail ? tails_.begin() : heads_.begin();
      const auto last = first + static_cast<ptrdiff_t>(part.numbers());
      const auto place =
          std::find(first, last, value.at - (in_tail ? behind : 0));
      // "nan", "True": of other words there may be another value.
      if (place == last) return false;
      values_.push_back(
          {value.meaning, in_tail, static_cast<size_t>(place - first)});
    }
    return !values_.empty();
  }

  bool known_ = false;
  bool in_bar_ = false;
  int others_ = 0;
  LineTemplate head_;  // up to the bar; all of a line without one
  LineTemplate tail_;  // behind its clocks
  LineTemplate::Places heads_{};
  LineTemplate::Places tails_{};
  size_t behind_ = 0;  // the bar of the newest line
  std::vector<Value> values_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_USUAL_LINE_H_
