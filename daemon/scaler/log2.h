// ExactLog2, ExactExp2: not the C library's, because two machines must decide
// alike.

#ifndef NANWATCH_SCALER_LOG2_H_
#define NANWATCH_SCALER_LOG2_H_

#include <cmath>

namespace nanwatch {

inline constexpr double kLn2 = 0.69314718055994531;

// To 1e-12; of powers of two exact. REQUIRES: x is positive and finite.
inline double ExactLog2(double x) {
  constexpr double kSqrtHalf = 0.70710678118654752;
  constexpr double kTwoOverLn2 = 2.88539008177792681;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < kSqrtHalf) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1);  // within 0.172
  const double t2 = t * t;
  double series = 0;
  for (int k = 15; k >= 1; k -= 2) series = series * t2 + 1.0 / k;
  return exponent + kTwoOverLn2 * t * series;
}

// 2^x, to 1e-12; of whole numbers exact. REQUIRES: x is finite.
inline double ExactExp2(double x) {
  const double whole = std::floor(x);
  const double rest = (x - whole) * kLn2;  // 0 .. ln 2
  double sum = 1;
  for (int k = 20; k >= 1; --k) sum = 1 + rest / k * sum;
  return std::ldexp(sum, static_cast<int>(whole));
}

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_LOG2_H_
