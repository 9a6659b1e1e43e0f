// RisingLoss: whether a loss rose, record by record, until it was not finite.

#ifndef NANWATCH_ENGINE_RISING_LOSS_H_
#define NANWATCH_ENGINE_RISING_LOSS_H_

#include <cmath>
#include <cstdint>
#include <optional>

#include "diagnose/evidence.h"

namespace nanwatch {

// Trivially copyable.
class RisingLoss {
 public:
  // Takes the losses up to the first that is not finite; that one and those
  // after it, too, which change nothing.
  void Add(int64_t step, double loss) {
    if (ended_) return;
    if (!std::isfinite(loss)) {
      ended_ = true;
      return;
    }
    const double size = std::fabs(loss);
    if (size >= kRise * last_) {
      ++rises_;
    } else {
      rises_ = 0;
      from_step_ = step;
      from_ = size;
    }
    last_ = size;
  }

  // Returns how it rose before it was not finite; nullopt where it did not.
  std::optional<LossRise> rise() const {
    const bool far = rises_ >= 2 && last_ >= kFar * from_;
    const bool at_once = rises_ == 1 && last_ >= kVeryFar * from_;
    if (!ended_ || from_ == 0 || !(far || at_once)) return std::nullopt;
    return LossRise{from_step_, from_, last_};
  }

 private:
  // From one record to the next, and over several of them or one; ours: an
  // outlier of the data is one record, and the next one is as before.
  static constexpr double kRise = 2;
  static constexpr double kFar = 1e3;
  static constexpr double kVeryFar = 1e6;

  int64_t from_step_ = 0;
  double from_ = 0;
  double last_ = HUGE_VAL;  // none yet
  int32_t rises_ = 0;
  bool ended_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_RISING_LOSS_H_
