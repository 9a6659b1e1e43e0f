// What ranks of one job cost the engine: a step of all of them, beside the same
// ranks as runs of their own, which nobody compares; and all of them opening
// and closing.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine_runs.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;

std::vector<double>& Of(StepColumns& columns, StepField field) {
  return columns.field[static_cast<int>(field)]->values;
}

// One step at a time of a healthy training.
class OneStep {
 public:
  // Returns the event of `step` at `now`, which the caller says whose it is.
  Event& At(int64_t step, Time now) {
    const int64_t row =
        step < kFalling ? step : kFalling + step % (kSteps - kFalling);
    columns().step[0] = step;
    columns().time[0] = now;
    columns().replica_digest = {static_cast<uint64_t>(step)};
    for (const StepField f : {StepField::kLoss, StepField::kGradNorm}) {
      Of(columns(), f)[0] = Of(steps_, f)[row];
    }
    event_.sequence = static_cast<Sequence>(step + 1);
    return event_;
  }

 private:
  static constexpr int kSteps = 2 * kFalling;

  StepColumns& columns() { return std::get<StepBatch>(event_.body).columns; }

  StepColumns steps_ = HealthySteps(0, 1, kSteps);
  Event event_ = RunEvent(0, 0, StepBatch{HealthySteps(0, 1, 1)});
};

// A step of each rank, in the order in which they happen to come.
void BM_StepOfRanks(benchmark::State& state) {
  const int runs = static_cast<int>(state.range(0));
  const int ranks = static_cast<int>(state.range(1));
  Engine engine;
  Effects effects;
  for (int run = 0; run < runs; ++run) OpenRun(run, ranks, &engine, &effects);
  std::vector<int> order(static_cast<size_t>(runs * ranks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  OneStep one;
  int64_t step = 0;
  for (auto _ : state) {
    const Time now = kStart + milliseconds(1000 * (step + 1));
    Event& event = one.At(step++, now);
    for (const int at : order) {
      event.rank = at % ranks;
      event.session = SessionOf(at / ranks, event.rank);
      event.run.run_id = "run-" + std::to_string(at / ranks);
      engine.Apply(now, event, &effects);
    }
    engine.Advance(now, &effects);
  }
  if (!effects.notices.empty()) {
    state.SkipWithError("a healthy run has trouble");
  }
  state.SetItemsProcessed(state.iterations() * runs * ranks);
}
BENCHMARK(BM_StepOfRanks)
    ->ArgNames({"runs", "ranks"})
    ->Args({1, 8})
    ->Args({8, 1})
    ->Args({1, 1000})
    ->Args({1000, 1})
    ->Args({1, 10000})
    ->Args({10000, 1})
    ->MinTime(2);

// What is published when each rank has taken a step.
void BM_PublishRanks(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  Engine engine;
  Effects effects;
  OpenRun(0, ranks, &engine, &effects);
  OneStep one;
  auto snapshot = std::make_shared<const Snapshot>();
  int64_t step = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Time now = kStart + milliseconds(1000 * (step + 1));
    Event& event = one.At(step++, now);
    for (event.rank = 0; event.rank < ranks; ++event.rank) {
      event.session = SessionOf(0, event.rank);
      engine.Apply(now, event, &effects);
    }
    effects.Clear();
    state.ResumeTiming();
    snapshot = engine.Publish(now, static_cast<uint64_t>(step), *snapshot);
  }
}
BENCHMARK(BM_PublishRanks)
    ->ArgName("ranks")
    ->Arg(8)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond);

// All ranks open, in the order in which they happen to come, take a step, and
// close.
void BM_RanksComeAndGo(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  std::vector<int> order(static_cast<size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  OneStep one;
  for (auto _ : state) {
    Engine engine;
    Effects effects;
    RunDescription description = Description();
    description.world_size = ranks;
    Event opened = RunEvent(0, -1, RunOpened{description, "first rank"});
    opened.session = 0;
    engine.Apply(kStart, opened, &effects);
    for (const int rank : order) {
      RankOpened one;
      one.rank.rank = rank;
      engine.Apply(kStart, RunEvent(0, rank, std::move(one)), &effects);
    }
    for (const int rank : order) {
      const Time now = kStart + milliseconds(1000);
      Event& event = one.At(0, now);
      event.rank = rank;
      event.session = SessionOf(0, rank);
      engine.Apply(now, event, &effects);
    }
    for (const int rank : order) {
      Event event = RunEvent(0, rank, RankClosed{});
      event.sequence = 2;
      engine.Apply(kStart + milliseconds(2000), event, &effects);
    }
    benchmark::DoNotOptimize(effects);
  }
  state.SetItemsProcessed(state.iterations() * ranks);
}
BENCHMARK(BM_RanksComeAndGo)
    ->ArgName("ranks")
    ->Arg(8)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nanwatch
