#include "model/benchmark.h"

#include <algorithm>
#include <cmath>

#include "model/limits.h"

namespace nanwatch {

void Thin(Benchmark* benchmark) {
  std::vector<BenchmarkPoint>& points = benchmark->points;
  if (points.size() <= limits::kBenchmarkPoints) return;
  const size_t every =
      (points.size() + limits::kBenchmarkPoints - 1) / limits::kBenchmarkPoints;
  size_t kept = 0;
  for (size_t i = 0; i < points.size(); i += every) points[kept++] = points[i];
  points.resize(kept);
}

std::string WhyNoBenchmark(const Benchmark& benchmark) {
  const std::vector<BenchmarkPoint>& points = benchmark.points;
  if (benchmark.reference.empty()) return "the benchmark has no name";
  if (benchmark.reference.size() > limits::kNameBytes) {
    return "the benchmark's name is longer than " +
           std::to_string(limits::kNameBytes) + " bytes";
  }
  if (points.size() > limits::kBenchmarkPoints) {
    return "the benchmark has " + std::to_string(points.size()) +
           " losses, and at most " + std::to_string(limits::kBenchmarkPoints) +
           " are held";
  }
  if (std::none_of(points.begin(), points.end(), [](const BenchmarkPoint& p) {
        return std::isfinite(p.loss);
      })) {
    return "the benchmark has no loss that is a number";
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const bool rises = i == 0 || points[i].step > points[i - 1].step;
    if (points[i].step < 0 || !rises) {
      return "the benchmark's steps do not rise from 0 on, each once";
    }
  }
  return "";
}

}  // namespace nanwatch
