// RoundedSteps: steps of the run from steps that are printed in thousands, of
// which several lines show the same: "step:800 ... step:1K step:1K step:2K".

#ifndef NANWATCH_LOGS_ROUNDED_STEPS_H_
#define NANWATCH_LOGS_ROUNDED_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/scan.h"

namespace nanwatch {

// A count to so many digits: 25,000 of a unit of 1,000 is "25K".
struct RoundedCount {
  int64_t count = 0;
  int64_t unit = 0;
};
// That which begins `text`: "25K", "1.2M". nullopt: there is none.
inline std::optional<RoundedCount> ReadRoundedCount(std::string_view text) {
  const size_t size = text.find_first_not_of("0123456789.");
  if (size == 0 || size >= text.size()) return std::nullopt;
  const char sign = text[size];
  const double unit = sign == 'K' || sign == 'k' ? 1e3 : sign == 'M' ? 1e6 : 0;
  const char next = size + 1 < text.size() ? text[size + 1] : ' ';
  const std::optional<double> number = WholeNumber(text.substr(0, size));
  if (unit == 0 || IsLetterOrMark(next) || IsDigit(next) || !number ||
      *number > 1e6) {
    return std::nullopt;
  }
  const size_t point = text.substr(0, size).find('.');
  int64_t last = static_cast<int64_t>(unit);  // what its last digit stands for
  for (size_t at = point; at != text.npos && at + 1 < size; ++at) last /= 10;
  return RoundedCount{static_cast<int64_t>(*number * unit + 0.5),
                      std::max<int64_t>(last, 1)};
}

// Lines go on at the interval that they had before, as far as what they print
// allows.
class RoundedSteps {
 public:
  // A line shows all digits of its step.
  void NoteExact(int64_t step) {
    if (step > last_ && last_ >= 0) stride_ = step - last_;
    last_ = step;
    printed_ = step;
    whole_ = false;
  }

  // The step of a line that shows `step`.
  int64_t Step(RoundedCount step) {
    NoteShared(step);
    const int64_t half = step.unit / 2;
    const int64_t next = last_ + stride_;
    if (last_ < 0 || step.count < printed_ || next < step.count - half) {
      last_ = step.count;
    } else {
      last_ = std::max(last_ + 1, std::min(next, step.count + half));
    }
    printed_ = step.count;
    return last_;
  }

 private:
  // Where no line showed all digits, an interval is as long as a unit is shared
  // by lines.
  void NoteShared(RoundedCount step) {
    if (step.count == printed_) {
      ++lines_;
      return;
    }
    const bool next = step.count == printed_ + step.unit;
    if (stride_ == 0 && next && whole_) stride_ = step.unit / lines_;
    whole_ = next;
    lines_ = 1;
  }

  int64_t last_ = -1;     // -1: none yet
  int64_t printed_ = -1;  // of it
  int64_t stride_ = 0;    // 0: unknown
  int64_t lines_ = 1;     // that printed the same, in a row
  bool whole_ = false;    // the first of these was seen
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ROUNDED_STEPS_H_
