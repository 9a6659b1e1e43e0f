// ScaleFall: a loss that rises with each fall of the loss scale. So a training
// dies whose scaler can only halve: each overflow spoils the weights further.

#ifndef NANWATCH_DETECT_SCALE_FALL_H_
#define NANWATCH_DETECT_SCALE_FALL_H_

#include <algorithm>
#include <cstdint>

#include "detect/context.h"

namespace nanwatch {

// Trivially copyable.
class ScaleFall {
 public:
  struct Limits {
    double falls;  // overflows since the scale last grew
    double ratio;  // times the lowest loss since then
    double hold;   // losses in a row that are so high
  };

  // The next finite loss. True: it rose so with the scale's fall.
  bool Add(float loss, const StepContext& c, const Limits& limits) {
    const ScalerTracker& scaler = c.scaler;
    recent_ = recent_ == 0 ? loss : recent_ + kSmooth * (loss - recent_);
    const int32_t falls = scaler.falls();
    const bool begins = falls == 0 || lowest_ == 0;
    lowest_ = begins ? recent_ : std::min(lowest_, recent_);
    if (falls < limits.falls || lowest_ < kTiny ||
        loss < limits.ratio * lowest_) {
      high_ = 0;
      return false;
    }
    from_ = lowest_;
    to_ = loss;
    falls_ = falls;
    return ++high_ >= limits.hold;
  }
  float from() const { return from_; }
  float to() const { return to_; }
  int32_t falls() const { return falls_; }

 private:
  static constexpr float kSmooth = 0.25f;  // of a loss; ours
  static constexpr float kTiny = 0.01f;    // policies begin near 0; ours

  float recent_ = 0;  // over about four losses
  float lowest_ = 0;  // of those, since the scale last grew
  float from_ = 0;    // of the newest such rise
  float to_ = 0;
  int32_t falls_ = 0;
  int32_t high_ = 0;  // losses in a row
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_FALL_H_
