#include "compare/tensor_statistics.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

using Number = std::optional<double> TensorStatistics::*;
constexpr Number kNumbers[] = {&TensorStatistics::min, &TensorStatistics::max,
                               &TensorStatistics::mean,
                               &TensorStatistics::norm};

bool IsSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

double Rounding(const TensorStatistics& statistics, double number) {
  return statistics.rounded_share * std::fabs(number) + statistics.rounded_by;
}

}  // namespace

std::optional<bool> AreEqual(const TensorStatistics& a,
                             const TensorStatistics& b) {
  if (a.checksum && b.checksum) return *a.checksum == *b.checksum;
  std::optional<bool> equal;
  for (const Number number : kNumbers) {
    if (!(a.*number) || !(b.*number)) continue;
    equal = equal.value_or(true) && IsSame(*(a.*number), *(b.*number));
  }
  return equal;
}

std::optional<double> LeastDifference(const TensorStatistics& a,
                                      const TensorStatistics& b,
                                      uint64_t elements) {
  std::optional<double> least;
  for (const Number number : kNumbers) {
    if (!(a.*number) || !(b.*number)) continue;
    const double x = *(a.*number), y = *(b.*number);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    double apart = std::fabs(x - y) - Rounding(a, x) - Rounding(b, y);
    if (number == &TensorStatistics::mean) {
      apart *= std::sqrt(static_cast<double>(elements));
    }
    least = std::max({least.value_or(0), apart, 0.0});
  }
  return least;
}

std::optional<double> MostNorm(const TensorStatistics& statistics,
                               uint64_t elements) {
  if (statistics.norm) return statistics.norm;
  if (!statistics.min || !statistics.max) return std::nullopt;
  return std::sqrt(static_cast<double>(elements)) *
         std::max(std::fabs(*statistics.min), std::fabs(*statistics.max));
}

}  // namespace nanwatch
