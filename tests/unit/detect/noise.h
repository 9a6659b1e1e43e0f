// The noise of losses and norms that rules are tested with.

#ifndef NANWATCH_TESTS_UNIT_DETECT_NOISE_H_
#define NANWATCH_TESTS_UNIT_DETECT_NOISE_H_

#include <cmath>
#include <random>

namespace nanwatch {

// Not std::normal_distribution: it differs between libraries.
class Noise {
 public:
  double Uniform() { return static_cast<double>(engine_()) / 2147483647.0; }
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }
  double Factor(double width) { return std::exp(width * Normal()); }

 private:
  std::minstd_rand engine_{20240607};
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_DETECT_NOISE_H_
