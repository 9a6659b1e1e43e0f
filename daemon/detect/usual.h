// Usual: what a value usually is, as the mean of about 64 healthy ones. Where
// 256 in a row were none, the new level is there to stay, and it begins anew.

#ifndef NANWATCH_DETECT_USUAL_H_
#define NANWATCH_DETECT_USUAL_H_

#include <algorithm>
#include <cstdint>

namespace nanwatch {

// Trivially copyable. Of logarithms.
class Usual {
 public:
  // The next healthy value. REQUIRES: it is finite.
  void Add(float value) {
    rejected_ = 0;
    if (values_ < kCounted) ++values_;
    const float off = value - mean_;
    // Most times without a division.
    mean_ +=
        values_ < kMean ? off / static_cast<float>(values_) : off * kOfMean;
  }
  // The next value is not healthy.
  void Reject() {
    if (++rejected_ >= kStays) *this = Usual();
  }
  float at() const { return mean_; }      // REQUIRES: values() > 0
  int values() const { return values_; }  // healthy ones, 0 .. 128

 private:
  static constexpr int16_t kMean = 64;            // values; ours
  static constexpr float kOfMean = 1.0f / kMean;  // as kMean
  static constexpr int16_t kCounted = 128;  // values, ours: rules ask for less
  static constexpr int16_t kStays = 256;    // values; ours

  float mean_ = 0;
  int16_t values_ = 0;
  int16_t rejected_ = 0;  // in a row
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_USUAL_H_
