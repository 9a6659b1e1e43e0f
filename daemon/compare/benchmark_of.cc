#include "compare/benchmark_of.h"

#include <utility>

#include "model/limits.h"

namespace nanwatch {

Result<std::shared_ptr<const Benchmark>> BenchmarkOf(
    const ComparedRun& run, const std::string& reference) {
  auto benchmark = std::make_shared<Benchmark>();
  benchmark->reference = reference.substr(0, limits::kNameBytes);
  for (const ComparedStep& step : run.steps) {
    if (step.loss) benchmark->points.push_back({step.step, *step.loss});
  }
  Thin(benchmark.get());
  if (std::string why = WhyNoBenchmark(*benchmark); !why.empty()) {
    return Error{reference + ": " + why};
  }
  return std::shared_ptr<const Benchmark>(std::move(benchmark));
}

}  // namespace nanwatch
