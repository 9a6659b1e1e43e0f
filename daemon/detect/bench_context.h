// BenchContext: what a rule on a benchmark is given: a loss of a run beside
// that of its benchmark.

#ifndef NANWATCH_DETECT_BENCH_CONTEXT_H_
#define NANWATCH_DETECT_BENCH_CONTEXT_H_

#include <cstdint>

namespace nanwatch {

// OnBench: one loss of the run, at a step at which its benchmark has one. Both
// are finite. `y`, `bench_y` and the means are inverse hyperbolic sines about a
// twentieth of the benchmark's first losses: natural logarithms of what is
// larger, and small differences of what is next to nothing.
struct BenchContext {
  int64_t step = 0;
  double loss = 0;
  double bench_loss = 0;
  double y = 0;
  double bench_y = 0;
  // Mean of the benchmark's losses about this step; and the highest of such
  // means some steps before and after, since another run learns the same sooner
  // or later.
  double bench_mean = 0;
  double bench_high = 0;
  // Of the run's own attempts before; of other runs all is 0.
  bool earlier_attempt = false;
  double noise = 0;    // deviation of a loss from their course; 0: not known
  double learned = 0;  // from the first losses to the mean; 0: within the noise
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_BENCH_CONTEXT_H_
