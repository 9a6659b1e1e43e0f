#include "tests/generate/training.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nanwatch::generate {
namespace {

constexpr double kLargestFp16 = 65504;
// Of the gradient elements half are smaller than 2^-27 of the largest, with a
// deviation of 3.2 bits; what is below 2^-24 after scaling is lost.
constexpr double kMiddleBelowTop = 27;  // bits
constexpr double kSpread = 3.2;         // bits
constexpr double kLowest = -24;         // log2 of the smallest in fp16

double SharedBelow(double deviations) {
  return 0.5 * std::erfc(-deviations / std::sqrt(2.0));
}

}  // namespace

Training::Training(const Plan& plan, uint64_t seed)
    : plan_(plan), random_(seed), scaler_(plan.scaler) {}

void Training::Take(const Plan::Change& change) {
  loss_shift_ += change.loss;
  norm_shift_ += change.norm;
  plan_.loss_noise.width *= std::exp(change.noise);
  plan_.norm_noise.width *= std::exp(change.noise);
  rate_ *= change.rate;
}

void Training::Resume(int64_t step) {
  step_ = step;
  scaler_ = LossScaler(plan_.scaler);
}

double Training::Loss() {
  const Noise& noise = plan_.loss_noise;
  const double random = noise.width * random_.Tailed(noise.degrees);
  if (loss_nan) return std::numeric_limits<double>::quiet_NaN();
  if (plan_.around_zero) return random * std::exp(loss_more) - noise.width / 4;
  const auto at = static_cast<double>(step_);
  const double decayed =
      plan_.last_loss +
      (plan_.first_loss - plan_.last_loss) / std::pow(1 + at / plan_.half, 0.8);
  // Slow, and much less than the noise of a batch.
  wander_ = 0.99 * wander_ + 0.02 * noise.width * random_.Normal();
  double logarithm = std::log(decayed) + random + wander_ + loss_shift_;
  if (plan_.hot_start && at > 20) {
    logarithm += 0.66 * std::clamp((34 - at) / 4, 0.0, 1.0);
  }
  return std::min(std::exp(logarithm + loss_more), 1e30);
}

double Training::Norm() {
  const auto at = static_cast<double>(step_);
  const double decayed =
      plan_.last_norm +
      (plan_.first_norm - plan_.last_norm) / (1 + at / plan_.half);
  const Noise& noise = plan_.norm_noise;
  const double random = noise.width * random_.Tailed(noise.degrees);
  const double more = std::min(norm_shift_ + norm_more, 60.0);
  return decayed * std::exp(random + more);
}

Update Training::Next() {
  ++step_;
  while (change_ < plan_.changes.size() &&
         plan_.changes[change_].step <= step_) {
    Take(plan_.changes[change_++]);
  }
  Update a;
  a.step = step_;
  a.loss = Loss();
  const double norm = Norm();
  if (plan_.has_norm) a.grad_norm = norm;
  const double warm = std::min(
      1.0, static_cast<double>(step_) /
               static_cast<double>(std::max<int64_t>(plan_.warmup, 1)));
  a.learning_rate = plan_.rate * warm * rate_;
  if (plan_.scaling == Scaling::kNone) {
    if (loss_nan && a.grad_norm) a.grad_norm = *a.loss;
    return a;
  }
  const double scale = scaler_.scale();
  a.scale = scale;
  // The largest element: a share of the norm, which varies with the batch.
  const double largest =
      kLargestFp16 / plan_.edge * (norm / plan_.last_norm) *
      std::exp(plan_.element_noise * random_.Normal() + elements_more);
  const bool overflow =
      overflow_always || loss_nan || largest * scale > kLargestFp16;
  const double middle = std::log2(kLargestFp16 * scale / plan_.edge) -
                        kMiddleBelowTop + std::log2(norm / plan_.last_norm);
  a.underflow_fraction = SharedBelow((kLowest - middle) / kSpread);
  if (plan_.scaling == Scaling::kStatic) return a;
  a.overflow = overflow;
  a.skipped = overflow;
  if (overflow && a.grad_norm) {
    a.grad_norm = loss_nan ? *a.loss : std::numeric_limits<double>::infinity();
  }
  scaler_.Update(overflow);
  return a;
}

}  // namespace nanwatch::generate
