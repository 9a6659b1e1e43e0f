// ClampedLogOf: losses of programs that take the logarithm of no less than a
// least number, so that a probability of 0 costs a well-known loss.

#ifndef NANWATCH_DETECT_CLAMPED_LOG_H_
#define NANWATCH_DETECT_CLAMPED_LOG_H_

#include <cmath>
#include <string_view>

namespace nanwatch {

// Returns the least number whose negative logarithm `loss` is, to about six
// digits; empty: it is none that a program is known for.
inline std::string_view ClampedLogOf(float loss) {
  struct Least {
    float cost;
    std::string_view number;
  };
  constexpr Least kLeast[] = {
      {87.3365f, "1.2e-38"},  // Caffe: the least normal number of fp32
      {46.0517f, "1e-20"},    // Caffe's infogain loss
      {34.5388f, "1e-15"},    // scikit-learn
      {27.6310f, "1e-12"},    // MXNet's metric
      {16.1181f, "1e-7"},     // Keras
  };
  constexpr float kNear = 2e-5f;  // of it; ours: as many digits are printed
  for (const Least& least : kLeast) {
    if (std::fabs(loss - least.cost) <= kNear * least.cost) return least.number;
  }
  return {};
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_CLAMPED_LOG_H_
