#include "scaler/scale_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
// Of a normal tensor whose largest value is just lost: its deviation is a
// quarter of that, and the allowed share lies 9.64 bits below the deviation.
constexpr float kBitsToSee = 12;
// Share lost from which on what is left does not show the whole: ours.
constexpr double kCutFrom = 0.02;
// Share lost up to which values lie evenly there: ours.
constexpr double kEven = 0.1;
// Elements lost for each at the smallest number: more are not believed.
constexpr double kMostBelow = 8;  // ours, as the Python client

// Half a smallest number rounds to 0. Of normal values with a deviation of
// 2^-k smallest numbers, those that round to two or three of it for each that
// rounds to one: how steeply they fall off.
class FallOff {
 public:
  // Bits from the deviation up to the smallest number. The more, the fewer
  // values lie at two and three of it.
  static double BitsAbove(double next_for_one) {
    static const FallOff kTable;
    const std::array<double, kEntries>& ratio = kTable.ratio_;
    if (next_for_one >= ratio.front()) return kFirst;
    if (next_for_one <= ratio.back()) return kFirst + kStep * (kEntries - 1);
    size_t i = 1;
    while (ratio[i] > next_for_one) ++i;
    const double part =
        (ratio[i - 1] - next_for_one) / (ratio[i - 1] - ratio[i]);
    return kFirst + kStep * (static_cast<double>(i - 1) + part);
  }

 private:
  static constexpr size_t kEntries = 33;
  static constexpr double kFirst = -6;   // bits
  static constexpr double kStep = 0.25;  // bits
  FallOff() {
    for (size_t i = 0; i < kEntries; ++i) {
      const double u =
          std::ldexp(1, static_cast<int>(i / 4) - 6) * kQuarter[i % 4];
      const auto below = [u](double x) { return NormalCdf(x * u); };
      ratio_[i] = (below(3.5) - below(1.5)) / (below(1.5) - below(0.5));
    }
  }
  // 2^(i/4).
  static constexpr std::array<double, 4> kQuarter = {
      1, 1.189207115002721, 1.414213562373095, 1.681792830507429};

  std::array<double, kEntries> ratio_;
};

uint64_t CountAtExponent(const GradientStatus& s, int32_t exponent) {
  const int64_t i = int64_t{exponent} - s.first;
  const bool held = i >= 0 && i < static_cast<int64_t>(s.exponents.size());
  return held ? s.exponents[static_cast<size_t>(i)] : 0;
}

// From counted exponents.
void FitExponents(const GradientStatus& s, int32_t limit, ScaleFit* fit) {
  uint64_t all = 0;
  uint64_t below = 0;
  for (size_t i = 0; i < s.exponents.size(); ++i) {
    all += s.exponents[i];
    if (s.first + static_cast<int64_t>(i) < limit) below += s.exponents[i];
  }
  if (all == 0) return;
  if (below > 0) {  // counted before they were rounded
    fit->lost = static_cast<float>(static_cast<double>(below) /
                                   static_cast<double>(all));
    return;
  }
  const auto one = static_cast<double>(CountAtExponent(s, limit));
  const auto next = static_cast<double>(CountAtExponent(s, limit + 1));
  if (one == 0) return;
  const double denser = next > 0 ? 2 * one / next : kMostBelow * kMostBelow * 4;
  double lost = one * std::min(kMostBelow, 0.5 * std::sqrt(denser));
  if (s.range.zeros) lost = std::min(lost, static_cast<double>(*s.range.zeros));
  const double share = lost / (static_cast<double>(all) + lost);
  fit->lost = static_cast<float>(share);
  if (share <= kUnderflowAllowed) return;
  if (share > kCutFrom) fit->sight = Sight::kCut;
  // Values near 0 lie evenly, and half of those below the smallest number are
  // lost; where most of them are, only how they fall off tells.
  double bits = 1 + ExactLog2(share / kUnderflowAllowed);
  if (share >= kEven) {
    const double above = FallOff::BitsAbove(next / one);
    bits = above - kNearZeroLog2;
    const double bell = UnderflowNormal(1, above - 1, 0);
    const double most = s.range.zeros
                            ? static_cast<double>(*s.range.zeros) /
                                  static_cast<double>(*s.range.zeros + all)
                            : 1;
    fit->lost = static_cast<float>(std::min(bell, most));
  }
  fit->low = std::max(fit->low, static_cast<float>(bits));
}

// From moments.
void FitMoments(const GradientStatus& s, int32_t limit, ScaleFit* fit) {
  const double lowest = *s.lowest;
  if (lowest <= 0) return;
  const bool logs = s.range.log2_mean && s.range.log2_std;
  // Without logarithms that of a normal tensor with this bound.
  double lost =
      logs ? UnderflowLogNormal(*s.range.log2_mean, *s.range.log2_std, limit, 0)
           : UnderflowNormal(1, kNearZeroLog2 + lowest, 0);
  if (s.range.zeros && s.range.elements > 0) {
    lost = std::min(lost, static_cast<double>(*s.range.zeros) /
                              static_cast<double>(s.range.elements));
  }
  fit->lost = static_cast<float>(lost);
  if (lost > kCutFrom) fit->sight = Sight::kCut;
}

// The square of the largest element that is lost, against the mean of all.
float LostSquare(const TensorRange& range, int32_t limit) {
  double log2_rms = 0;
  if (range.rms && *range.rms > 0 && std::isfinite(*range.rms)) {
    log2_rms = ExactLog2(*range.rms);
  } else if (range.log2_mean && range.log2_std) {
    log2_rms = *range.log2_mean + *range.log2_std * *range.log2_std * kLn2;
  } else {
    return 1;
  }
  return static_cast<float>(
      std::min(1.0, ExactExp2(2 * (limit - 1 - log2_rms))));
}

}  // namespace

ScaleFit FitOf(const GradientStatus& status, float margin) {
  ScaleFit fit{.low = kUnknown, .high = kUnknown};
  const double smallest = MinSubnormal(status.range.dtype);
  if (smallest <= 0) return fit;
  const int32_t limit = std::ilogb(smallest);
  const auto top =
      static_cast<float>(ExactLog2(MaxFinite(status.range.dtype))) - margin;
  const bool zero = (status.abs_max && *status.abs_max == 0) ||
                    (status.range.rms && *status.range.rms == 0) ||
                    (status.range.zeros && status.range.elements > 0 &&
                     *status.range.zeros >= status.range.elements);
  if (zero) {
    const auto largest = static_cast<float>(limit - 1);  // of what is lost
    return {.low = kBitsToSee,
            .high = top - largest,
            .lost = 1,
            .harm = 1,
            .sight = Sight::kLost};
  }
  if (status.abs_max && *status.abs_max > 0 && std::isfinite(*status.abs_max)) {
    fit.high = top - static_cast<float>(ExactLog2(*status.abs_max));
  }
  if (!std::isnan(fit.high)) fit.sight = Sight::kSeen;
  if (!status.lowest) return fit;
  fit.low = static_cast<float>(*status.lowest);
  fit.sight = Sight::kSeen;
  if (!status.exponents.empty()) {
    FitExponents(status, limit, &fit);
  } else {
    FitMoments(status, limit, &fit);
  }
  fit.harm = fit.lost * LostSquare(status.range, limit);
  return fit;
}

}  // namespace nanwatch
