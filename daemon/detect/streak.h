// Streak: how long something is so, in one record after another.

#ifndef NANWATCH_DETECT_STREAK_H_
#define NANWATCH_DETECT_STREAK_H_

#include <cstdint>

namespace nanwatch {

// Trivially copyable: a member of a rule.
class Streak {
 public:
  // The next record. Returns records() then.
  int32_t Add(bool is_so, int64_t step) {
    if (is_so && !goes_on_) {
      since_ = step;
      length_ = 0;
    }
    goes_on_ = is_so;
    length_ += is_so && length_ < INT32_MAX;
    return records();
  }
  // Returns how many in a row are so, the newest among them.
  int32_t records() const { return goes_on_ ? length_ : 0; }
  // Of the newest row, also where it is over: its records and its first step.
  int32_t newest() const { return length_; }
  int64_t since() const { return since_; }

 private:
  int64_t since_ = 0;
  int32_t length_ = 0;  // saturates
  bool goes_on_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STREAK_H_
