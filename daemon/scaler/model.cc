#include "scaler/model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "scaler/log2.h"

namespace nanwatch {

int64_t ScalerParameters::OverflowsPerBackoff() const {
  // kUntilGrowth forgives only before the first backoff of a fall.
  return hysteresis == Hysteresis::kCumulative ? hysteresis_count : 1;
}

int64_t ScalerParameters::Backoffs(double scale, double target) const {
  if (!(scale > target) || !(backoff_factor > 0) || backoff_factor >= 1) {
    return 0;
  }
  const double n = ExactLog2(scale / target) / -ExactLog2(backoff_factor);
  return static_cast<int64_t>(std::ceil(n - 1e-9));
}

int64_t ScalerParameters::OverflowsPerGrowth() const {
  const int64_t falls = std::max<int64_t>(1, Backoffs(growth_factor, 1));
  return falls * OverflowsPerBackoff() +
         (hysteresis == Hysteresis::kUntilGrowth ? hysteresis_count - 1 : 0);
}

double ScalerParameters::Grown(double scale) const {
  const double grown = scale * growth_factor;
  if (ceiling == 0 || grown <= ceiling) return grown;
  // One that is above it already is not pulled down.
  return at_ceiling == AtCeiling::kClamps ? std::max(scale, ceiling) : scale;
}

ScalerParameters Resolve(const ScalerSpec* spec,
                         const ScalerDeclaration& declaration) {
  ScalerParameters p;
  if (spec != nullptr) {
    p = {spec->init,
         spec->growth_factor,
         spec->backoff_factor,
         spec->floor,
         std::isfinite(spec->ceiling) ? spec->ceiling : 0,
         spec->growth_interval,
         spec->hysteresis_count,
         spec->growth,
         spec->hysteresis,
         spec->at_ceiling};
  }
  if (declaration.kind == ScalingKind::kStatic) p.growth = Growth::kNever;
  if (declaration.kind == ScalingKind::kLayerwise) {
    p.growth = Growth::kStatistical;
  }
  if (declaration.init_scale) p.init = *declaration.init_scale;
  if (declaration.growth_factor) p.growth_factor = *declaration.growth_factor;
  if (declaration.backoff_factor) {
    p.backoff_factor = *declaration.backoff_factor;
  }
  if (declaration.growth_interval) {
    p.growth_interval = *declaration.growth_interval;
  }
  if (declaration.hysteresis) {
    p.hysteresis_count = static_cast<int32_t>(
        std::clamp<int64_t>(*declaration.hysteresis, 1, 1 << 20));
    if (p.hysteresis_count > 1 && p.hysteresis == Hysteresis::kNone) {
      p.hysteresis = Hysteresis::kUntilGrowth;
    }
  }
  if (declaration.min_scale) p.floor = *declaration.min_scale;
  if (declaration.max_scale) p.ceiling = *declaration.max_scale;
  return p;
}

bool SameScale(double a, double b) {
  const double larger = std::max(std::fabs(a), std::fabs(b));
  // Logs print small scales with four decimals.
  const double rounding = larger < 0.01 ? std::min(5e-5, 0.25 * larger) : 0;
  return std::fabs(a - b) <= 0.005 * larger + rounding;
}

namespace {

// MindFormers' windows from 20 to 1000, its defaults. Before the first stands a
// window of 1.
constexpr std::array<int16_t, 8> kWindows = {20,  30,  40,  50,
                                             100, 200, 500, 1000};
constexpr int kWindowMoves = 3;  // growths or backoffs until the window moves

}  // namespace

ScalerModel::ScalerModel(const ScalerParameters& parameters)
    : p_(parameters), scale_(parameters.init) {
  if (p_.growth != Growth::kVarying) return;
  // A window that is not in the list begins as the smallest.
  const auto at =
      std::find(kWindows.begin(), kWindows.end(), p_.growth_interval);
  window_ =
      static_cast<int8_t>(at == kWindows.end() ? 0 : at - kWindows.begin());
  p_.growth_interval = kWindows[window_];
}

ScalerModel ScalerModel::BackedOff(const ScalerParameters& parameters,
                                   double scale) {
  ScalerModel model(parameters);
  model.scale_ = scale;
  if (parameters.hysteresis == Hysteresis::kUntilGrowth ||
      parameters.hysteresis == Hysteresis::kConsecutive) {
    model.forgiven_ = parameters.hysteresis_count - 1;
  }
  return model;
}

// Three growths, with no shortening between them, take the next longer window.
void ScalerModel::OnVaryingGrowth() {
  backoffs_ = 0;
  const bool longest = window_ + 1 == static_cast<int>(kWindows.size());
  if (longest || ++growths_ < kWindowMoves) return;
  growths_ = 0;
  p_.growth_interval = kWindows[++window_];
}

// Three backoffs without a growth between them take a window of 1. Not from the
// smallest of the list.
void ScalerModel::OnVaryingBackoff() {
  backoffs_ = static_cast<int8_t>((backoffs_ + 1) % (kWindowMoves + 1));
  if (backoffs_ != kWindowMoves || window_ <= 0) return;
  backoffs_ = growths_ = 0;
  window_ = -1;
  p_.growth_interval = 1;
}

void ScalerModel::OnOverflow() {
  good_ = 0;
  if (p_.growth == Growth::kVarying) OnVaryingBackoff();
  if (p_.hysteresis != Hysteresis::kNone) {
    if (forgiven_ + 1 < p_.hysteresis_count) {
      ++forgiven_;
      return;
    }
    if (p_.hysteresis == Hysteresis::kCumulative) forgiven_ = 0;
  }
  scale_ = std::max(scale_ * p_.backoff_factor, p_.floor);
}

void ScalerModel::OnGood() {
  if (p_.hysteresis == Hysteresis::kConsecutive) forgiven_ = 0;
  if (p_.growth_interval <= 0 || ++good_ < p_.growth_interval) return;
  good_ = 0;
  forgiven_ = 0;
  if (p_.growth == Growth::kVarying) OnVaryingGrowth();
  scale_ = p_.Grown(scale_);
}

std::optional<double> ScalerModel::Next(bool overflow) {
  if (FollowsStatistics(p_.growth)) return std::nullopt;
  if (p_.growth == Growth::kNever) return scale_;
  overflow ? OnOverflow() : OnGood();
  return scale_;
}

bool ScalerModel::Possible(double from, double to, bool overflow) const {
  if (FollowsStatistics(p_.growth)) return to > 0;
  if (p_.growth == Growth::kNever) return SameScale(from, to);
  const double backed_off = std::max(from * p_.backoff_factor, p_.floor);
  if (overflow) {
    if (SameScale(to, backed_off)) return true;
    return p_.hysteresis != Hysteresis::kNone && SameScale(from, to);
  }
  return SameScale(to, from) || SameScale(to, p_.Grown(from));
}

std::optional<int64_t> ScalerModel::UpdatesTo(double target,
                                              double overflow_rate) const {
  if (target <= 0 || !(overflow_rate > 0) || p_.growth == Growth::kNever ||
      FollowsStatistics(p_.growth)) {
    return std::nullopt;
  }
  const int64_t backoffs = p_.Backoffs(scale_, target);
  if (backoffs == 0) return 0;
  int64_t overflows = backoffs * p_.OverflowsPerBackoff();
  if (p_.hysteresis == Hysteresis::kCumulative) {
    overflows -= forgiven_;
  } else if (p_.hysteresis != Hysteresis::kNone) {
    overflows += p_.hysteresis_count - 1 - forgiven_;
  }
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(overflows) / std::min(1.0, overflow_rate)));
}

}  // namespace nanwatch
