#include "detect/first_losses.h"

#include <algorithm>
#include <cstdint>

namespace nanwatch {
namespace {

void Count(int16_t* count) {
  if (*count < INT16_MAX) ++*count;
}

}  // namespace

bool FirstLosses::Add(float loss, int64_t step, bool few,
                      const Limits& limits) {
  constexpr float kSmooth = 0.25f;  // of a loss; ours
  if (known_ < kFirst) {
    low_ = known_ == 0 ? loss : std::min(low_, loss);
    high_ = known_ == 0 ? loss : std::max(high_, loss);
    ++known_;
    return false;
  }
  const bool level =
      low_ >= limits.least && high_ - low_ <= limits.steady * high_;
  if (!level || loss < limits.above * high_ || (left_ == 0 && !few)) {
    left_ = far_ = 0;
    return false;
  }
  if (left_ == 0) {
    left_step_ = step;
    smooth_ = peak_ = loss;
  }
  Count(&left_);
  smooth_ += kSmooth * (loss - smooth_);
  peak_ = std::max(peak_, smooth_);
  if (loss >= limits.far * high_) {
    Count(&far_);
    far_for_ = far_;
  } else {
    far_ = 0;
  }
  return far_ >= limits.hold &&
         static_cast<double>(step - left_step_) >= limits.steps &&
         smooth_ >= high_ + limits.stays * (peak_ - high_);
}

}  // namespace nanwatch
