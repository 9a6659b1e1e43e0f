#include "rpc/bench.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <utility>

#include "model/limits.h"

namespace nanwatch {
namespace {

// Runs beside this one that have a benchmark.
size_t OthersWithOne(const Snapshot& snapshot, const RunView& run) {
  size_t others = 0;
  snapshot.runs.ForEach([&](const RunView& other) {
    others += other.bench != nullptr && other.key != run.key;
  });
  return others;
}

}  // namespace

Result<BenchmarkSet> ReadBenchmarkSet(const v1::SetBenchmarkRequest& request,
                                      const RunView& run,
                                      const Snapshot& snapshot,
                                      const std::string& caller) {
  if (run.state == LifeState::kClosed) {
    return Error{
        fmt::format("run {} attempt {} has ended already: compare it with "
                    "`nanwatch compare`",
                    run.key.run_id, run.key.attempt)};
  }
  BenchmarkSet set;
  set.by = caller;
  if (request.steps_size() != request.losses_size()) {
    return Error{fmt::format("{} steps and {} losses: each step takes one loss",
                             request.steps_size(), request.losses_size())};
  }
  if (request.steps().empty()) return set;
  Benchmark benchmark;
  benchmark.reference = request.reference();
  for (int i = 0; i < request.steps_size(); ++i) {
    benchmark.points.push_back({request.steps(i), request.losses(i)});
  }
  if (std::string why = WhyNoBenchmark(benchmark); !why.empty()) {
    return Error{std::move(why)};
  }
  if (OthersWithOne(snapshot, run) >= limits::kBenchmarks) {
    return Error{
        fmt::format("{} runs have a benchmark already, which is as many as "
                    "the daemon holds: take one away with `nanwatch bench "
                    "clear`",
                    limits::kBenchmarks)};
  }
  set.benchmark = std::make_shared<const Benchmark>(std::move(benchmark));
  return set;
}

std::string Describe(const BenchmarkSet& set, const RunView& run) {
  const std::string where =
      fmt::format("run {} attempt {}", run.key.run_id, run.key.attempt);
  if (set.benchmark == nullptr) {
    return fmt::format("{} is compared with no other run", where);
  }
  const auto& points = set.benchmark->points;
  return fmt::format("{} is compared with {}: {} losses of steps {} to {}",
                     where, set.benchmark->reference, points.size(),
                     points.front().step, points.back().step);
}

}  // namespace nanwatch
