#include "wire/benchmark_codec.h"

#include <cstdint>
#include <string>
#include <utility>

namespace nanwatch {

void WriteBenchmark(const Benchmark& from, v1::StoredBenchmark* to) {
  to->set_reference(from.reference);
  to->set_earlier_attempt(from.earlier_attempt);
  int64_t before = 0;
  for (const BenchmarkPoint& point : from.points) {
    to->add_step_deltas(static_cast<uint64_t>(point.step - before));
    to->add_losses(point.loss);
    before = point.step;
  }
}

Verdict ReadBenchmark(const v1::StoredBenchmark& from,
                      std::shared_ptr<const Benchmark>* to) {
  if (from.losses_size() != from.step_deltas_size()) {
    return Complaint{"a benchmark whose steps and losses are not as many", ""};
  }
  if (from.losses_size() == 0) return std::nullopt;
  auto benchmark = std::make_shared<Benchmark>();
  benchmark->reference = from.reference();
  benchmark->earlier_attempt = from.earlier_attempt();
  int64_t step = 0;
  for (int i = 0; i < from.losses_size(); ++i) {
    const uint64_t more = from.step_deltas(i);
    if (more > static_cast<uint64_t>(INT64_MAX - step)) {
      return Complaint{"a benchmark with a step that cannot be", ""};
    }
    step += static_cast<int64_t>(more);
    benchmark->points.push_back({step, from.losses(i)});
  }
  const std::string why = WhyNoBenchmark(*benchmark);
  if (!why.empty()) return Complaint{why, ""};
  *to = std::move(benchmark);
  return std::nullopt;
}

}  // namespace nanwatch
