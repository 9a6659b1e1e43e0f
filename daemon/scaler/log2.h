// ExactLog2: not the C library's, because two machines must decide alike.

#ifndef NANWATCH_SCALER_LOG2_H_
#define NANWATCH_SCALER_LOG2_H_

#include <cmath>

namespace nanwatch {

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

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_LOG2_H_
