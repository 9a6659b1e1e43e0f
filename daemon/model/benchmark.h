// Benchmark: the losses of another run, or of attempts before, which a run's
// own are held against.

#ifndef NANWATCH_MODEL_BENCHMARK_H_
#define NANWATCH_MODEL_BENCHMARK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanwatch {

struct BenchmarkPoint {
  int64_t step = 0;
  double loss = 0;  // may be NaN or infinite: nothing is compared there
};

struct Benchmark {
  std::string reference;               // as it was named by who set it
  std::vector<BenchmarkPoint> points;  // by rising step, each once
  // They are of the run's own attempts before, and nobody set them: a loss that
  // lies below says nothing against the run.
  bool earlier_attempt = false;
};

// Leaves every n-th point where there are more than limits::kBenchmarkPoints.
void Thin(Benchmark* benchmark);

// Returns what is wrong with it as a sentence; empty: nothing.
std::string WhyNoBenchmark(const Benchmark& benchmark);

// How a run compares with its benchmark, as it is published.
struct BenchmarkView {
  std::string reference;
  uint64_t points = 0;
  uint64_t not_finite = 0;  // of those
  int64_t first_step = 0;
  int64_t last_step = 0;
  uint64_t pairs = 0;  // losses that were compared
  int64_t pair_step = 0;
  // Means of about ten newest pairs; absent: there is none yet.
  std::optional<double> loss;
  std::optional<double> benchmark_loss;
  // Both have the same batches, as their losses tell; absent: too few pairs.
  std::optional<bool> same_batches;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_BENCHMARK_H_
