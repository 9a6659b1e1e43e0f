// LastDigit: where a series of numbers is printed with few digits, what its
// last one is worth: the smallest move that the series ever made. What is
// smaller cannot be seen, and is no sign that the series stands still.

#ifndef NANWATCH_DETECT_LAST_DIGIT_H_
#define NANWATCH_DETECT_LAST_DIGIT_H_

#include <cmath>
#include <limits>

namespace nanwatch {

// Trivially copyable.
class LastDigit {
 public:
  // The coarsest usual rounding of a log: a series that only ever made larger
  // moves is not rounded, it jumps.
  static constexpr float kCoarsest = 0.01f;  // ours

  // Returns true where that changes worth(). REQUIRES: value is finite.
  bool Note(float value) {
    const float moved = std::fabs(value - before_);
    const bool less = moved < least_ && moved > 0;
    if (less) least_ = moved;
    before_ = value;
    return less;
  }
  // At most kCoarsest, which it is until the series moves by less.
  float worth() const { return least_; }

 private:
  float least_ = kCoarsest;
  float before_ = std::numeric_limits<float>::quiet_NaN();  // none yet
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAST_DIGIT_H_
