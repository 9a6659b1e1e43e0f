// AtRest: a training that has converged. Its gradients are what rounding and
// the optimizer's own wobbling leave, and grow many times over without a
// meaning: Adam divides by what is next to nothing. Its loss does not move with
// them.

#ifndef NANWATCH_DETECT_AT_REST_H_
#define NANWATCH_DETECT_AT_REST_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/step.h"

namespace nanwatch {

// Trivially copyable. A batch's noise is a hundred times what it allows.
class AtRest {
 public:
  // Of a record whose norm is healthy.
  void Learn(const StepRecord& record) {
    const auto norm = static_cast<float>(record[StepField::kGradNorm]);
    largest_norm_ = std::max(largest_norm_, norm);
    const double loss = LossOf(record);
    if (!std::isfinite(loss)) return;
    loss_ = loss;
    largest_loss_ = std::max(largest_loss_, std::fabs(loss));
  }
  // The norm is small beside those that the run had, and the loss where it was
  // at the last healthy one. A loss that is not finite is nowhere.
  bool Explains(const StepRecord& record) const {
    return record[StepField::kGradNorm] <= kSmall * largest_norm_ &&
           std::fabs(LossOf(record) - loss_) <= kNothing * largest_loss_;
  }

  // Healthy, since the run began.
  float largest_norm() const { return largest_norm_; }

 private:
  // Returns NaN where there is none.
  static double LossOf(const StepRecord& record) {
    return record.get(StepField::kLoss)
        .value_or(std::numeric_limits<double>::quiet_NaN());
  }

  static constexpr float kSmall = 0.01f;    // of the largest norm; ours
  static constexpr double kNothing = 5e-3;  // of the largest loss; ours

  float largest_norm_ = 0;
  double loss_ = std::numeric_limits<double>::quiet_NaN();
  double largest_loss_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_AT_REST_H_
