#include "scaler/headroom.h"

#include <algorithm>
#include <cmath>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

// A normal value is below minus that, in deviations, with the allowed
// probability.
constexpr double kTail = 3.0902323061678132;
// Of log2|x| where x is normal with deviation 1.
constexpr double kNormalLog2Mean = -0.9163;
constexpr double kNormalLog2Std = 1.6024;
constexpr double kLikeNormal = 0.3;
constexpr double kFp16Max = 15.999295387023410;  // log2 of 65504

// e^y for y <= 0: the C library's may differ between machines.
double ExpOfNegative(double y) {
  if (y < -745) return 0;
  const double whole = std::floor(y / kLn2);
  const double rest = y - whole * kLn2;  // 0 .. ln 2
  double sum = 1;
  for (int k = 20; k >= 1; --k) sum = 1 + rest / k * sum;
  return std::ldexp(sum, static_cast<int>(whole));
}

double Density(double x) {
  constexpr double kOneOverSqrt2Pi = 0.39894228040143268;
  return kOneOverSqrt2Pi * ExpOfNegative(-x * x / 2);
}

// Share of values between 0 and x, 0 <= x <= 3: a series of positive terms.
double FromZero(double x) {
  double term = x;
  double sum = x;
  for (int k = 3; k < 120; k += 2) {
    term *= x * x / k;
    sum += term;
  }
  return Density(x) * sum;
}

// Share of values above x, x > 3: a continued fraction.
double Above(double x) {
  double fraction = x;
  for (int k = 120; k >= 1; --k) fraction = x + k / fraction;
  return Density(x) / fraction;
}

double LowestFit(double log2_rms, double log2_mean, double log2_std,
                 double limit) {
  const double gap = log2_rms - log2_mean;
  const double if_normal =
      std::fabs(gap + kNormalLog2Mean) + std::fabs(log2_std - kNormalLog2Std);
  const double if_log_normal = std::fabs(gap - log2_std * log2_std * kLn2);
  return if_normal < if_log_normal
             ? limit - kNearZeroLog2 - log2_rms
             : LowestLogNormal(log2_mean, log2_std, limit);
}

}  // namespace

double NormalCdf(double x) {
  if (x < -3) return Above(-x);
  if (x > 3) return 1 - Above(x);
  return x < 0 ? 0.5 - FromZero(-x) : 0.5 + FromZero(x);
}

double UnderflowNormal(double rms, double limit, double bits) {
  const double log2_x = limit - bits - ExactLog2(rms);
  if (log2_x > 10) return 1;
  if (log2_x < -1000) return 0;
  // 2^log2_x, by e^y of a negative y.
  const double x = 1024 * ExpOfNegative((log2_x - 10) * kLn2);
  return x <= 3 ? 2 * FromZero(x) : 1 - 2 * Above(x);
}

double UnderflowLogNormal(double log2_mean, double log2_std, double limit,
                          double bits) {
  const double distance = limit - bits - log2_mean;
  if (log2_std <= 0) return distance > 0 ? 1 : 0;
  return NormalCdf(distance / log2_std);
}

double LowestNormal(double rms, double limit) {
  return limit - kNearZeroLog2 - ExactLog2(rms);
}

double LowestLogNormal(double log2_mean, double log2_std, double limit) {
  return limit - log2_mean + kTail * log2_std;
}

std::optional<int32_t> LowestExact(std::span<const uint64_t> counts,
                                   int32_t first, int32_t limit) {
  uint64_t all = 0;
  for (const uint64_t count : counts) all += count;
  if (all == 0) return std::nullopt;
  const double allowed = kUnderflowAllowed * static_cast<double>(all);
  uint64_t below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    // This exponent must stay: it is the lowest that does.
    if (static_cast<double>(below) > allowed) {
      return limit - first - static_cast<int32_t>(i);
    }
  }
  return std::nullopt;
}

std::optional<double> LowestOf(const TensorRange& range) {
  const double smallest = MinSubnormal(range.dtype);
  if (smallest <= 0) return std::nullopt;
  const double limit = std::ilogb(smallest);  // a power of two
  double rms = range.rms.value_or(0);
  if (!(rms > 0) || std::isinf(rms)) rms = 0;
  // Zeros are no part of the distribution: a sparse tensor has larger values.
  // (Few of them move it by less than a twentieth of a bit.)
  if (rms > 0 && range.zeros && *range.zeros > range.elements / 16 &&
      *range.zeros < range.elements) {
    rms *= std::sqrt(static_cast<double>(range.elements) /
                     static_cast<double>(range.elements - *range.zeros));
  }
  const bool logs = range.log2_mean && range.log2_std &&
                    std::isfinite(*range.log2_mean) && *range.log2_std >= 0 &&
                    std::isfinite(*range.log2_std);
  // Far from a normal's deviation there is nothing to compare.
  const bool maybe_normal =
      logs && std::fabs(*range.log2_std - kNormalLog2Std) < kLikeNormal;
  if (maybe_normal && rms > 0) {
    return LowestFit(ExactLog2(rms), *range.log2_mean, *range.log2_std, limit);
  }
  if (logs) return LowestLogNormal(*range.log2_mean, *range.log2_std, limit);
  if (rms > 0) return LowestNormal(rms, limit);
  return std::nullopt;
}

int GradientRange::BinOf(double bits) {
  const double bin = std::ceil(bits) - kFirstBin;
  return static_cast<int>(std::clamp<double>(bin, 0, kBins - 1));
}

void GradientRange::Add(uint32_t op, std::optional<double> lowest,
                        std::optional<float> abs_max) {
  ++tensors_;
  // Equal ones go to the first op, so that the order does not show.
  if (abs_max && std::isfinite(*abs_max)) {
    if (*abs_max > abs_max_ || (*abs_max == abs_max_ && op < largest_op_)) {
      abs_max_ = *abs_max;
      largest_op_ = op;
    }
  }
  if (!lowest) return;
  if (bounded_ == 0 || *lowest > lowest_ ||
      (*lowest == lowest_ && op < lowest_op_)) {
    lowest_ = *lowest;
    lowest_op_ = op;
  }
  ++bounded_;
  uint16_t& bin = needs_[BinOf(*lowest)];
  if (bin < UINT16_MAX) ++bin;
}

void GradientRange::AddZeros(uint64_t elements, uint64_t zeros) {
  elements_ += elements;
  zeros_ += zeros;
}

uint32_t GradientRange::Losing(int32_t bits) const {
  uint32_t losing = 0;
  for (int i = BinOf(bits) + 1; i < kBins; ++i) losing += needs_[i];
  return losing;
}

std::optional<double> GradientRange::headroom() const {
  if (abs_max_ <= 0) return std::nullopt;
  return kFp16Max - ExactLog2(abs_max_);
}

std::optional<int32_t> GradientRange::BestBits() const {
  const std::optional<double> up = headroom();
  if (!up || bounded_ == 0) return std::nullopt;
  const double most = std::floor(*up - 1);
  return static_cast<int32_t>(
      std::min(most, std::max(0.0, std::ceil(lowest_))));
}

}  // namespace nanwatch
