// Random: the same numbers on every machine, from a seed.

#ifndef NANWATCH_TESTS_GENERATE_RANDOM_H_
#define NANWATCH_TESTS_GENERATE_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <random>

namespace nanwatch::generate {

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}

  uint64_t Below(uint64_t n) { return bits_() % n; }
  // Above 0, below 1.
  double Uniform() {
    return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53;
  }
  double Between(double low, double high) {
    return low + (high - low) * Uniform();
  }
  bool Chance(double probability) { return Uniform() < probability; }
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) *
           std::cos(6.283185307179586 * Uniform());
  }
  // Student's t; 0 degrees of freedom: normal.
  double Tailed(int degrees) {
    const double x = Normal();
    if (degrees == 0) return x;
    double squares = 0;
    for (int i = 0; i < degrees; ++i) {
      const double y = Normal();
      squares += y * y;
    }
    return x / std::sqrt(squares / degrees);
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_RANDOM_H_
