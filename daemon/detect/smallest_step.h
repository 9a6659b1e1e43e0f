// SmallestStep: the smallest move that a series of numbers ever made. Where
// they are printed with few digits it is the last digit's: what is smaller
// cannot be seen, and is no sign that the series stands still.

#ifndef NANWATCH_DETECT_SMALLEST_STEP_H_
#define NANWATCH_DETECT_SMALLEST_STEP_H_

#include <algorithm>
#include <cmath>

namespace nanwatch {

// Trivially copyable.
class SmallestStep {
 public:
  // REQUIRES: value is finite.
  void Note(float value) {
    const float moved = std::fabs(value - before_);
    if (any_ && moved > 0) step_ = step_ > 0 ? std::min(step_, moved) : moved;
    before_ = value;
    any_ = true;
  }
  // 0: it never moved.
  float step() const { return step_; }

 private:
  float step_ = 0;
  float before_ = 0;
  bool any_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SMALLEST_STEP_H_
