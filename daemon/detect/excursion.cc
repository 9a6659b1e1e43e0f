#include "detect/excursion.h"

#include <algorithm>
#include <cmath>

#include "detect/float_log2.h"

namespace nanwatch {
namespace {

constexpr float kDegrees = 3;       // of Student's t; ours: tails of real logs
constexpr float kFar = 6;           // deviations: where outliers lie; ours
constexpr int32_t kSurely = 32;     // values that are a level; ours
constexpr float kLevelDegrees = 7;  // of Student's t, of first values; ours
constexpr float kChosen = 4;     // nats: one looks after each low value; ours
constexpr float kBack = 0.15f;   // of the highest rise; ours
constexpr float kNarrowest = 2;  // deviations, of what is predicted; ours

// Logarithms of the shares of what is predicted: a third goes on.
constexpr float kGoesOn = -1.0986123f;         // ln(1/3); ours
constexpr float kGoesElsewhere = -0.4054651f;  // ln(2/3); ours

// Logarithm of densities, but for constants that the two have nearly alike:
// Student's t of three degrees, and of one (Cauchy's).
float LogT(float z, float width) {
  return -(kDegrees + 1) / 2 * Ln(1 + z * z / kDegrees) - Ln(width);
}
// ln(e^a + e^b), within the range of floats.
float Either(float a, float b) {
  return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}
float LogCauchy(float z, float width) { return -Ln(1 + z * z) - Ln(width); }

}  // namespace

void Excursion::Begin(int64_t step, float base, float noise, int32_t values) {
  *this = Excursion();
  step_ = step;
  base_ = base;
  noise_ = noise;
  level_values_ = values;
}

bool Excursion::IsAbove(float y) const {
  const float back = values() == 0 ? 0 : kBack * (peak_ - base_);
  return y - base_ >= std::max(kOpens * noise_, back);
}

float Excursion::nats() const {
  if (level_values_ > kSurely || values() == 0) return nats_;
  const float z = mean_rise() / scatter_;
  const float one = (kLevelDegrees + 1) / 2 * Ln(1 + z * z / kLevelDegrees);
  return std::min(
      nats_, std::max(0.0f, one - kChosen) * static_cast<float>(level_values_));
}

void Excursion::Add(float value, float y, const SeriesLevel& level, float floor,
                    float outliers) {
  noise_ = std::max(noise_, level.Shown(level.noise(), floor));
  scatter_ = level.Shown(level.scatter(), floor);
  if (values() == 0) zigzag_.Begin(y);
  wobble_ += (zigzag_.Add(y) - wobble_) / static_cast<float>(values() + 1);
  const float far = kFar * noise_;
  const float anywhere = LogCauchy((y - base_ - far) / far, far);
  float predicted = anywhere;
  if (values() > 0) {
    const float rise = mean_rise();
    const float width = std::max(kNarrowest * noise_, std::fabs(rise) / 2);
    predicted = Either(LogT((y - base_ - rise) / width, width) + kGoesOn,
                       anywhere + kGoesElsewhere);
  }
  const float usual = LogT((y - base_) / noise_, noise_);
  const float odd = Ln(outliers) + anywhere;
  const float healthy = Either(usual, odd);
  outliers_ += std::exp(odd - healthy);
  nats_ = std::max(nats_ + predicted - healthy, 0.0f);
  if (values() == 0) {
    jumped_ = y - base_ >= kFar * noise_;
    entry_ = y;
  }
  peak_ = values() == 0 ? y : std::max(peak_, y);
  sum_ += y;
  course_.Add(value);
  above_ += IsAbove(y);
  calm_ = IsAbove(y) ? 0 : calm_ + 1;
}

bool Excursion::IsOver() const {
  return calm_ >= std::clamp(values() / 4, 2, 8);
}

}  // namespace nanwatch
