#include "scaler/layer_range.h"

#include <algorithm>
#include <cmath>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

// Attempts whose extremes are the bounds; then quantiles follow.
constexpr uint16_t kFirst = 8;  // ours
// Of the spread, that a quantile moves at an attempt, times its tail: it
// follows a level that moves within 64 attempts.
constexpr float kRate = 0.5f;   // ours
constexpr float kOuter = 0.1f;  // attempts that may need more, or bear less
constexpr float kLeastSpread = 1.0f / 64;  // bits; ours
constexpr float kSpreadRate = 1.0f / 8;    // ours
constexpr float kLostRate = 1.0f / 16;     // ours
// Bits outside that are no trouble yet: scales are powers of two.
constexpr float kSlack = 1;
// Shares lost: at a scale that suits, and at one that hides what is needed.
constexpr double kFewLost = 0.005;  // ours
constexpr double kManyLost = 0.05;  // ours
constexpr float kScaleUnit = 128;
constexpr float kSpreadUnit = 256;
constexpr double kHarmUnit = 8;

uint8_t CountedUp(bool more, uint8_t count) {
  if (!more) return 0;
  return count < UINT8_MAX ? static_cast<uint8_t>(count + 1) : count;
}

std::optional<double> Known(float bound) {
  return std::isnan(bound) ? std::nullopt : std::optional<double>(bound);
}

// The value that `kOuter` of all are above.
float Upper(float quantile, float value, float spread) {
  const float way = value - quantile;
  return way > 0 ? quantile + std::min(way, (1 - kOuter) * kRate * spread)
                 : quantile + std::max(way, -kOuter * kRate * spread);
}

}  // namespace

std::optional<double> LayerRange::low() const {
  return attempts_ == 0 ? std::nullopt : Known(low_);
}

std::optional<double> LayerRange::high() const {
  return attempts_ == 0 ? std::nullopt : Known(high_);
}

std::optional<double> LayerRange::own_scale() const {
  if (own_scale_ == kNoScale) return std::nullopt;
  return own_scale_ / double{kScaleUnit};
}

void LayerRange::SetScale(float log2_scale, ScaleOwner owner) {
  constexpr float kMost = 250;  // bits; what 16 bits hold
  owner_ = static_cast<uint8_t>(owner) & 15;
  const bool own = owner != ScaleOwner::kRun;
  own_scale_ = own ? static_cast<int16_t>(std::lround(
                         std::clamp(log2_scale, -kMost, kMost) * kScaleUnit))
                   : kNoScale;
}

void LayerRange::Pass(float log2_scale, ScaleOwner owner) {
  SetScale(log2_scale, owner);
  if (attempts_ > 0) CountOutside(log2_scale);
}

void LayerRange::Take(const ScaleFit& fit, float log2_scale, ScaleOwner owner) {
  SetScale(log2_scale, owner);
  if (fit.sight == Sight::kNone) return;
  float lost = fit.lost;
  if (fit.sight == Sight::kLost && attempts_ > 0 && sight() != Sight::kLost) {
    // Its values are known, and the scale is not too low for them: they are 0
    // for another reason (frozen, dead units).
    if (!(log2_scale < low_ - kSlack)) lost = 0;
  } else {
    Learn(fit, log2_scale);
  }
  const float rate = std::max(kLostRate, 1.0f / static_cast<float>(attempts_));
  const auto before = static_cast<float>(lost_);
  lost_ = static_cast<uint16_t>(before + rate * (65535 * lost - before));
  Harm(lost > 0 ? fit.harm * ShareOfUsual(fit, log2_scale) : 0, attempts_ <= 1);
  CountOutside(log2_scale);
}

// What an attempt's sum of squares is of the layer's usual one, by their
// largest values: a batch that is learned loses nothing that counts.
float LayerRange::ShareOfUsual(const ScaleFit& fit, float log2_scale) const {
  if (fit.sight == Sight::kLost) return 1;
  const float bits = log2_scale + fit.high - high_;
  return bits > 0 ? static_cast<float>(ExactExp2(-2 * bits)) : 1;
}

double LayerRange::harm() const { return ExactExp2(-harm_ / kHarmUnit); }

void LayerRange::Harm(float share, bool first) {
  const double units =
      share > 0 ? std::min(255.0, -kHarmUnit * ExactLog2(share)) : 255.0;
  const double before = harm_;
  harm_ = static_cast<uint8_t>(std::lround(
      std::clamp(first ? units : before + (units - before) / 8, 0.0, 255.0)));
}

void LayerRange::Learn(const ScaleFit& fit, float log2_scale) {
  const float low = log2_scale + fit.low;
  const float high = log2_scale + fit.high;
  const bool first = attempts_ == 0;
  // What it needed was estimated from what was left: now it is seen.
  const bool recovered = sight() == Sight::kCut && fit.sight == Sight::kSeen &&
                         fit.lost < kFewLost && lost() > kManyLost;
  const bool was_lost = sight() == Sight::kLost || recovered;
  sight_ = static_cast<uint8_t>(fit.sight) & 15;
  if (fit.sight == Sight::kLost) {
    // At the highest scale at which all was lost.
    low_ = first ? low : std::max(low_, low);
    high_ = first ? high : std::max(high_, high);
    if (attempts_ < UINT16_MAX) ++attempts_;
    return;
  }
  if (first || was_lost) {
    low_ = low;
    high_ = high;
    attempts_ = 1;
    spread_ = 0;
    return;
  }
  Follow(low, high);
  if (attempts_ < UINT16_MAX) ++attempts_;
}

void LayerRange::Follow(float low, float high) {
  if (std::isnan(low_)) low_ = low;
  if (std::isnan(high_)) high_ = high;
  float spread = static_cast<float>(spread_) / kSpreadUnit;
  const float off = std::isnan(low) ? high - high_ : low - low_;
  if (!std::isnan(off)) {
    spread += kSpreadRate * (std::fabs(off) - spread);
    spread = std::min(spread, 255.0f);
    spread_ = static_cast<uint16_t>(std::lround(spread * kSpreadUnit));
  }
  spread = std::max(spread, kLeastSpread);
  if (!std::isnan(low)) {
    low_ = attempts_ < kFirst ? std::max(low_, low) : Upper(low_, low, spread);
  }
  if (!std::isnan(high)) {
    // The other bound's spread: where this one is far off alone, it follows
    // all the same.
    spread = std::max(spread, kSpreadRate * std::fabs(high - high_));
    high_ = attempts_ < kFirst ? std::min(high_, high)
                               : -Upper(-high_, -high, spread);
  }
}

void LayerRange::CountOutside(float log2_scale) {
  below_ = CountedUp(log2_scale < low_ - kSlack, below_);
  // A scale at the very bound has a bit of room left.
  above_ = CountedUp(log2_scale > high_ + kSlack, above_);
}

}  // namespace nanwatch
