#include "compare/sketch_distance.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {

double NormOf(const SketchValues& sketch) {
  return DistanceOf(sketch, SketchValues{});
}

double DistanceOf(const SketchValues& a, const SketchValues& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

Outlier OutlierOfDifference(const SketchValues& a, const SketchValues& b) {
  double sum = 0, most = 0;
  size_t at = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
    if (d * d > most) {
      most = d * d;
      at = i;
    }
  }
  // Sums that are all equal but for one: it stands out by as much as it can.
  constexpr double kLeast = 1e-12;
  const double others =
      std::max(sum - most, kLeast * most) / static_cast<double>(a.size() - 1);
  if (most == 0) return {};
  return {std::sqrt(most / others),
          std::sqrt(most) / std::max(std::fabs(static_cast<double>(a[at])),
                                     kLeast * std::sqrt(most))};
}

}  // namespace nanwatch
