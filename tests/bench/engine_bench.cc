// The engine alone, in process, every rule on: cost a record from one to ten
// thousand runs x ranks, and publishing one dirty run among many.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/event.h"

namespace nanwatch {
namespace {

constexpr int kRows = 100;
constexpr Time kStart = Time(std::chrono::hours(500000));

RunDescription Description() {
  RunDescription run;
  run.framework = "pytorch";
  run.precision = "fp16";
  run.overflow_mode = OverflowMode::kInfNan;
  run.scaler.kind = ScalingKind::kDynamic;
  run.scaler.name = "pytorch";
  return run;
}

Event RunEvent(int run, EventBody body) {
  Event event;
  event.run = RunKey{"run-" + std::to_string(run), 0};
  event.rank = 0;
  event.session = static_cast<SessionId>(run + 1);
  event.body = std::move(body);
  return event;
}

void OpenRun(int run, Engine* engine, Effects* effects) {
  Event opened = RunEvent(run, RunOpened{Description(), "first rank"});
  opened.rank = -1;
  opened.session = 0;
  engine->Apply(kStart, opened, effects);
  engine->Apply(kStart, RunEvent(run, RankOpened{}), effects);
}

StepColumns HealthySteps(int64_t first) {
  StepColumns columns;
  const auto column = [&](StepField f, auto value) {
    Column c;
    for (int i = 0; i < kRows; ++i) c.values.push_back(value(i));
    columns.field[static_cast<int>(f)] = std::move(c);
  };
  for (int i = 0; i < kRows; ++i) {
    columns.step.push_back(first + i);
    columns.time.push_back(kStart + std::chrono::milliseconds(first + i));
  }
  column(StepField::kLoss, [](int i) { return 2.0 + 0.001 * (i % 13); });
  column(StepField::kLossScale, [](int) { return 65536.0; });
  column(StepField::kGradNorm, [](int i) { return 1.0 + 0.01 * (i % 11); });
  column(StepField::kLearningRate, [](int) { return 1e-3; });
  columns.flag[static_cast<int>(StepFlag::kOverflow)] =
      FlagColumn{Bitmap((kRows + 7) / 8), {}};
  return columns;
}

// One batch of 100 healthy steps of one run after another.
void BM_ApplySteps(benchmark::State& state) {
  const int runs = static_cast<int>(state.range(0));
  Engine engine(EngineOptions{});
  Effects effects;
  std::vector<Event> batches;
  for (int r = 0; r < runs; ++r) {
    OpenRun(r, &engine, &effects);
    batches.push_back(RunEvent(r, StepBatch{HealthySteps(0)}));
    batches.back().sequence = 0;
  }
  Time now = kStart + std::chrono::seconds(1);
  int64_t round = 0;
  int r = 0;
  for (auto _ : state) {
    Event& event = batches[r];
    auto& columns = std::get<StepBatch>(event.body).columns;
    ++event.sequence;
    for (int i = 0; i < kRows; ++i) {
      columns.step[i] = round * kRows + i;
      columns.time[i] = now;
    }
    engine.Apply(now, event, &effects);
    if (++r == runs) {
      r = 0;
      ++round;
      now += std::chrono::milliseconds(100);
    }
  }
  effects.Clear();
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ApplySteps)->Arg(1)->Arg(100)->Arg(10000);

// A snapshot with one dirty run among so many.
void BM_Publish(benchmark::State& state) {
  const int runs = static_cast<int>(state.range(0));
  Engine engine(EngineOptions{});
  Effects effects;
  for (int r = 0; r < runs; ++r) OpenRun(r, &engine, &effects);
  Time now = kStart + std::chrono::seconds(1);
  std::shared_ptr<const Snapshot> snapshot = std::make_shared<Snapshot>();
  snapshot = engine.Publish(now, 1, *snapshot);
  Event event = RunEvent(0, StepBatch{HealthySteps(0)});
  int64_t step = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto& columns = std::get<StepBatch>(event.body).columns;
    ++event.sequence;
    for (int i = 0; i < kRows; ++i) columns.step[i] = step++;
    engine.Apply(now, event, &effects);
    state.ResumeTiming();
    snapshot = engine.Publish(now, 2, *snapshot);
  }
}
BENCHMARK(BM_Publish)->Arg(1)->Arg(10000);

// A thousand healthy op statuses with counts and the largest magnitude.
void BM_ApplyOps(benchmark::State& state) {
  constexpr int kOps = 1000;
  Engine engine(EngineOptions{});
  Effects effects;
  OpenRun(0, &engine, &effects);
  OpNames names;
  OpColumns columns;
  for (int i = 0; i < kOps; ++i) {
    OpName op;
    op.name = "layers." + std::to_string(i);
    op.dtype = Dtype::kFp16;
    op.logical_shape = {1024, 1024};
    names.ops.push_back(op);
    columns.step.push_back(0);
    columns.time.push_back(kStart);
    columns.op.push_back(i);
    columns.slot.push_back(Slot::kOutput);
    columns.elements.push_back(1 << 20);
  }
  for (auto& count : columns.count) count = SparseCounts{};
  OpStatColumn abs_max;
  abs_max.values.assign(kOps, 1.5f);
  columns.stat[static_cast<int>(OpStat::kAbsMax)] = abs_max;
  engine.Apply(kStart, RunEvent(0, OpNamesAdded{names}), &effects);
  Event event = RunEvent(0, OpBatch{columns});
  Time now = kStart + std::chrono::seconds(1);
  for (auto _ : state) {
    auto& c = std::get<OpBatch>(event.body).columns;
    ++event.sequence;
    for (int64_t& step : c.step) ++step;
    engine.Apply(now, event, &effects);
  }
  state.SetItemsProcessed(state.iterations() * kOps);
}
BENCHMARK(BM_ApplyOps);

}  // namespace
}  // namespace nanwatch
