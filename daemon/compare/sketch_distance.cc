#include "compare/sketch_distance.h"

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

}  // namespace nanwatch
