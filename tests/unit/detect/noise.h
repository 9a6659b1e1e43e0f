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

// Returns the loss of a language model from scratch, 11 to 2.5.
inline double Learning(int i, Noise* noise) {
  return 2.5 + 8.5 * std::exp(-i / 300.0) + 0.05 * noise->Normal();
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_DETECT_NOISE_H_
