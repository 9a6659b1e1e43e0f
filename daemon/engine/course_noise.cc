#include "engine/course_noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nanwatch {
namespace {

constexpr size_t kFewest = 16;  // values; ours
// Deviation that a log of five digits resolves. Ours.
constexpr double kLeast = 1e-5;
// Of the value before, a value keeps this share at most. Ours: what is smoothed
// over more values than are here cannot be told from a course.
constexpr double kMostKept = 0.99;

double Square(double x) { return x * x; }

}  // namespace

// Of values that keep the share r of the one before, moves have 2 (1 - r) times
// the variance of the values, and what is drawn anew has (1 + r) / (1 - r)
// times it. About a line that is fitted r looks smaller than it is, by (2 + 4
// r) / n: M. G. Kendall, Note on Bias in the Estimation of Autocorrelation,
// 1954.
double CourseNoise(std::span<const double> y) {
  if (y.size() < kFewest) return 0;
  const auto n = static_cast<double>(y.size());
  const double middle = (n - 1) / 2;
  double mean = 0, slope = 0, squares = 0, moves = 0;
  for (const double value : y) mean += value / n;
  for (size_t i = 0; i < y.size(); ++i) {
    slope += (static_cast<double>(i) - middle) * (y[i] - mean);
  }
  slope /= n * (Square(n) - 1) / 12;
  for (size_t i = 0; i < y.size(); ++i) {
    const double line = mean + slope * (static_cast<double>(i) - middle);
    squares += Square(y[i] - line) / (n - 2);
    if (i > 0) moves += Square(y[i] - y[i - 1] - slope) / (n - 1);
  }
  if (squares < Square(kLeast)) return kLeast;
  double kept = 1 - moves / squares / 2;
  kept = std::clamp(kept + (2 + 4 * kept) / n, 0.0, kMostKept);
  const double noise = std::sqrt(moves * (1 + kept) / 2) / (1 - kept);
  return std::max(noise, kLeast);
}

}  // namespace nanwatch
