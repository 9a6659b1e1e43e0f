#include "app/earlier_attempts.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/limits.h"

namespace nanwatch {
namespace {

// So many attempts are looked at. Ours: of crashes in a row the last one that
// came far counts.
constexpr int32_t kAttempts = 8;
// Of the steps before the restart this share is held, too: what was learned
// sooner or later is looked for there.
constexpr int64_t kShareBefore = 8;
// Losses from the restart on, without which nothing is said. Ours: a level.
constexpr int64_t kFewest = 16;
constexpr auto kLoss = static_cast<size_t>(StepField::kLoss);

}  // namespace

Result<std::optional<int64_t>> FirstStepOf(HistoryReader& history,
                                           const RunKey& run, int32_t rank) {
  const auto all = history.Steps({.run = run, .rank = rank, .points = 1});
  if (!all.ok()) return Error{all.error()};
  if (all->empty()) return std::optional<int64_t>();
  return std::optional(all->front().first_step);
}

Result<std::shared_ptr<const Benchmark>> EarlierAttempts(HistoryReader& history,
                                                         const RunKey& run,
                                                         int32_t rank,
                                                         int64_t first) {
  auto benchmark = std::make_shared<Benchmark>();
  std::vector<BenchmarkPoint>& points = benchmark->points;
  int64_t from = first - first / kShareBefore;
  bool goes_on = false;
  for (int32_t back = 1; back <= std::min(run.attempt, kAttempts); ++back) {
    const RunKey key{run.run_id, run.attempt - back};
    const auto begun = FirstStepOf(history, key, rank);
    if (!begun.ok()) return Error{begun.error()};
    if (!*begun) continue;
    goes_on = goes_on || **begun < first;
    const size_t room = limits::kBenchmarkPoints - points.size();
    if (room == 0) continue;
    const auto buckets = history.Steps({.run = key,
                                        .rank = rank,
                                        .from = from,
                                        .points = static_cast<int>(room)});
    if (!buckets.ok()) return Error{buckets.error()};
    for (const StepBucket& bucket : *buckets) {
      if (bucket.value[kLoss].count == 0 || bucket.last_step < from) continue;
      points.push_back({bucket.last_step, bucket.value[kLoss].last});
      from = bucket.last_step + 1;
    }
    if (benchmark->reference.empty() && !points.empty()) {
      benchmark->reference = fmt::format("{}@{}", key.run_id, key.attempt);
    }
  }
  const auto after =
      std::count_if(points.begin(), points.end(),
                    [&](const BenchmarkPoint& p) { return p.step >= first; });
  if (!goes_on || after < kFewest || !WhyNoBenchmark(*benchmark).empty()) {
    return std::shared_ptr<const Benchmark>();
  }
  benchmark->earlier_attempt = true;
  return std::shared_ptr<const Benchmark>(std::move(benchmark));
}

}  // namespace nanwatch
