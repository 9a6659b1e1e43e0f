// RisingLoss: whether a loss rose, record by record, until it was not finite;
// or leapt, and was not finite soon after. A loss that is next to nothing, as
// that of rewards is at first, keeps no level: it may rise by any factor.

#ifndef NANWATCH_ENGINE_RISING_LOSS_H_
#define NANWATCH_ENGINE_RISING_LOSS_H_

#include <algorithm>
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
    leap_.Add(step, size, last_step_);
    if (size >= kRise * last_) {
      if (++rises_ == 1) step_ = step;
    } else {
      rises_ = 0;
      from_step_ = step;
      from_ = size;
    }
    last_ = size;
    last_step_ = step;
  }

  // Returns how it rose before it was not finite; nullopt where it did not.
  std::optional<LossRise> rise() const {
    const bool far = rises_ >= 2 && last_ >= kFar * std::max(from_, kNothing);
    if (!ended_) return std::nullopt;
    if (from_ == 0 || !far) return leap_.rise();
    return LossRise{from_step_, from_, last_, step_};
  }

 private:
  // From one record to the next, and over several of them; ours: an outlier of
  // the data is one record, and the next one is as before.
  static constexpr double kRise = 2;
  static constexpr double kFar = 1e3;
  static constexpr double kNothing = 0.01;  // a loss, as loss_spike's; ours

  // Of losses that are suddenly far above all before.
  struct Leap {
    void Add(int64_t step, double size, int64_t last_step) {
      const double usual = std::max(highest_, kNothing);
      const bool leaves = losses_ >= kFewest && size >= kLeaves * usual;
      if (leaves && since_ == 0) {
        step_ = step;
        from_step_ = last_step;
      }
      if (leaves || since_ > 0) {
        peak_ = std::max(peak_, size);
        high_ += size >= kTimes * usual;
        // It came back, or it is the level now.
        if (++since_ > kSoon) *this = {.highest_ = peak_, .losses_ = kFewest};
      } else if (size > 0) {
        highest_ = std::max(highest_, size);
        losses_ = std::min(losses_ + 1, kFewest);
      }
    }

    std::optional<LossRise> rise() const {
      const bool one =
          high_ > 0 && peak_ >= kFar * std::max(highest_, kNothing);
      if (high_ < kHigh && !one) return std::nullopt;
      return LossRise{from_step_, highest_, peak_, step_, true};
    }

    static constexpr double kLeaves = 1.5;  // of the highest before; ours
    static constexpr double kTimes = 4;     // of that, for a high one; ours
    static constexpr int32_t kFewest = 4;   // losses before; ours
    static constexpr int32_t kHigh = 2;     // losses; ours: one may be a batch
    static constexpr int32_t kSoon = 16;    // losses until it is none; ours

    double highest_ = 0;     // of those before
    double peak_ = 0;        // of the losses since
    int64_t step_ = 0;       // of the first that left it
    int64_t from_step_ = 0;  // of the one before it
    int32_t losses_ = 0;     // before; kFewest at most
    int32_t high_ = 0;
    int32_t since_ = 0;  // losses since that, it counted
  };

  Leap leap_;
  int64_t last_step_ = 0;
  int64_t step_ = 0;
  int64_t from_step_ = 0;
  double from_ = 0;
  double last_ = HUGE_VAL;  // none yet
  int32_t rises_ = 0;
  bool ended_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_RISING_LOSS_H_
