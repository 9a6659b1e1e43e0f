// The engine alone, in process, every rule on: cost a record from one to ten
// thousand runs x ranks, a collapse that every rank finds, and publishing one
// dirty run among many.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine_runs.h"

namespace nanwatch {
namespace {

// One batch of 100 healthy steps of one rank after another: `runs` runs of so
// many ranks each. The columns are written for each batch, as the parser does,
// so that only the engine's state grows with the number of ranks.
void BM_ApplySteps(benchmark::State& state) {
  const int runs = static_cast<int>(state.range(0));
  const int ranks = static_cast<int>(state.range(1));
  Engine engine;
  Effects effects;
  std::vector<RunKey> keys;
  for (int r = 0; r < runs; ++r) {
    OpenRun(r, ranks, &engine, &effects);
    keys.push_back(KeyOf(r));
  }
  HealthyBatches batches;
  Time now = kStart + std::chrono::seconds(1);
  int64_t round = 0;
  int at = 0;
  const auto apply_next = [&] {
    Event& event = batches.Next(round, now);
    event.run = keys[at / ranks];
    event.rank = at % ranks;
    event.session = SessionOf(at / ranks, event.rank);
    engine.Apply(now, event, &effects);
    if (++at == runs * ranks) {
      at = 0;
      ++round;
      now += std::chrono::milliseconds(100);
    }
  };
  // The first batches of a rank make its memory; of ten thousand ranks they
  // would be most of what is measured.
  while (round * kRows < kFalling) apply_next();
  for (auto _ : state) apply_next();
  if (!effects.notices.empty())
    state.SkipWithError("a healthy run has trouble");
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ApplySteps)
    ->ArgNames({"runs", "ranks"})
    ->Args({1, 1})
    ->Args({10000, 1})
    ->Args({100, 100})
    ->Args({1, 10000});

// The gradients of one overflow at `step`: all are infinite.
OpColumns Overflown(int ops, int64_t step, Time time) {
  OpColumns columns;
  SparseCounts infinite;
  for (int op = 0; op < ops; ++op) {
    columns.AddGroup(step, time);
    columns.op.push_back(op);
    columns.slot.push_back(Slot::kGradInput);
    columns.elements.push_back(1000);
    infinite.rows.push_back(op);
    infinite.counts.push_back(10);
  }
  columns.count[static_cast<int>(OpCount::kPosInf)] = infinite;
  return columns;
}

OpNames Parameters(int count) {
  OpNames names;
  for (int i = 0; i < count; ++i) {
    names.ops.push_back({.name = "layers." + std::to_string(i) + ".weight",
                         .type = "Parameter",
                         .dtype = Dtype::kFp16,
                         .order = i});
  }
  return names;
}

// Steps of which the last half overflow and halve the scale, on every rank:
// each finds the same, a few rules at the same step. With `ops` of them each
// tells as many gradients of an overflow.
void BM_Collapse(benchmark::State& state) {
  constexpr int kSteps = 100;
  const int ranks = static_cast<int>(state.range(0));
  const int ops = static_cast<int>(state.range(1));
  const StepColumns row = HealthySteps(kFalling, 1, 1);
  for (auto _ : state) {
    state.PauseTiming();
    auto engine = std::make_unique<Engine>();
    Effects effects;
    OpenRun(0, ranks, engine.get(), &effects);
    for (int rank = 0; rank < ranks; ++rank) {
      engine->Apply(kStart, RunEvent(0, rank, OpNamesAdded{Parameters(ops)}),
                    &effects);
    }
    Event event = RunEvent(0, 0, StepBatch{row});
    auto& columns = std::get<StepBatch>(event.body).columns;
    state.ResumeTiming();
    double scale = 65536;
    for (int step = 0; step < kSteps; ++step) {
      const bool overflows = step >= kSteps / 2;
      if (overflows) scale = std::max(1.0, scale / 2);
      columns.step[0] = step;
      columns.time[0] = kStart + std::chrono::seconds(step + 1);
      columns.field[static_cast<int>(StepField::kLossScale)]->values[0] = scale;
      columns.flag[static_cast<int>(StepFlag::kOverflow)] =
          FlagColumn{Bitmap(1, overflows ? 1 : 0), {}};
      for (int rank = 0; rank < ranks; ++rank) {
        event.rank = rank;
        event.session = SessionOf(0, rank);
        event.sequence = step + 1;
        if (overflows && ops > 0) {
          const Time time = columns.time[0];
          engine->Apply(time,
                        RunEvent(0, rank, OpBatch{Overflown(ops, step, time)}),
                        &effects);
        }
        engine->Apply(columns.time[0], event, &effects);
      }
    }
    state.PauseTiming();
    engine.reset();
    effects.Clear();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kSteps * ranks);
}
BENCHMARK(BM_Collapse)
    ->ArgNames({"ranks", "ops"})
    ->Args({32, 0})
    ->Args({2048, 0})
    ->Args({32, 150})
    ->Args({512, 150})
    ->Unit(benchmark::kMillisecond);

// A snapshot with one dirty run among so many. Timed by hand: pausing the
// library's clock costs as much as what is measured.
void BM_Publish(benchmark::State& state) {
  const int runs = static_cast<int>(state.range(0));
  Engine engine;
  Effects effects;
  for (int r = 0; r < runs; ++r) OpenRun(r, 1, &engine, &effects);
  Time now = kStart + std::chrono::seconds(1);
  std::shared_ptr<const Snapshot> snapshot = std::make_shared<Snapshot>();
  snapshot = engine.Publish(now, 1, *snapshot);
  HealthyBatches batches;
  int64_t round = 0;
  for (auto _ : state) {
    engine.Apply(now, batches.Next(round++, now), &effects);
    const auto begun = std::chrono::steady_clock::now();
    snapshot = engine.Publish(now, 2, *snapshot);
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun)
            .count());
  }
}
BENCHMARK(BM_Publish)->Arg(1)->Arg(10000)->UseManualTime();

// A thousand healthy op statuses with counts and the largest magnitude.
void BM_ApplyOps(benchmark::State& state) {
  constexpr int kOps = 1000;
  Engine engine;
  Effects effects;
  OpenRun(0, 1, &engine, &effects);
  OpNames names;
  OpColumns columns;
  for (int i = 0; i < kOps; ++i) {
    OpName op;
    op.name = "layers." + std::to_string(i);
    op.dtype = Dtype::kFp16;
    op.logical_shape = {1024, 1024};
    names.ops.push_back(op);
    columns.AddGroup(0, kStart);
    columns.op.push_back(i);
    columns.slot.push_back(Slot::kOutput);
    columns.elements.push_back(1 << 20);
  }
  for (auto& count : columns.count) count = SparseCounts{};
  OpStatColumn abs_max;
  abs_max.values.assign(kOps, 1.5f);
  columns.stat[static_cast<int>(OpStat::kAbsMax)] = abs_max;
  engine.Apply(kStart, RunEvent(0, 0, OpNamesAdded{names}), &effects);
  Event event = RunEvent(0, 0, OpBatch{columns});
  Time now = kStart + std::chrono::seconds(1);
  for (auto _ : state) {
    auto& c = std::get<OpBatch>(event.body).columns;
    ++event.sequence;
    ++c.groups.front().step;
    engine.Apply(now, event, &effects);
  }
  state.SetItemsProcessed(state.iterations() * kOps);
}
BENCHMARK(BM_ApplyOps);

// A thousand healthy statuses whose trends are followed: fp16 gradients with
// every moment, or FP8 tensors with their scales.
void BM_ApplyFollowedOps(benchmark::State& state) {
  constexpr int kOps = 1000;
  const bool fp8 = state.range(0) != 0;
  Engine engine;
  Effects effects;
  OpenRun(0, 1, &engine, &effects);
  OpNames names;
  OpColumns columns;
  const auto stat = [&](OpStat s, float value) {
    OpStatColumn column;
    column.values.assign(kOps, value);
    columns.stat[static_cast<int>(s)] = std::move(column);
  };
  for (auto& count : columns.count) count = SparseCounts{};
  auto& zeros = *columns.count[static_cast<int>(OpCount::kZero)];
  for (int i = 0; i < kOps; ++i) {
    OpName op;
    op.name = "layers." + std::to_string(i);
    op.dtype = fp8 ? Dtype::kFp8E4M3 : Dtype::kFp16;
    op.order = i;
    names.ops.push_back(op);
    columns.AddGroup(0, kStart);
    columns.op.push_back(i);
    columns.slot.push_back(fp8 ? Slot::kInput : Slot::kGradOutput);
    columns.elements.push_back(1 << 20);
    zeros.rows.push_back(i);
    zeros.counts.push_back(1000 + i);
  }
  stat(OpStat::kAbsMax, fp8 ? 448.0f : 1.5f);
  stat(OpStat::kRms, 0.1f);
  stat(OpStat::kLog2Mean, -6);
  stat(OpStat::kLog2Std, 2.5f);
  if (fp8) {
    stat(OpStat::kFp8Amax, 4);
    stat(OpStat::kFp8ScaleInv, 0.01f);
  }
  engine.Apply(kStart, RunEvent(0, 0, OpNamesAdded{names}), &effects);
  Event event = RunEvent(0, 0, OpBatch{columns});
  Time now = kStart + std::chrono::seconds(1);
  for (auto _ : state) {
    auto& c = std::get<OpBatch>(event.body).columns;
    ++event.sequence;
    ++c.groups.front().step;
    engine.Apply(now, event, &effects);
  }
  state.SetItemsProcessed(state.iterations() * kOps);
}
BENCHMARK(BM_ApplyFollowedOps)->ArgName("fp8")->Arg(0)->Arg(1);

// A step of a thousand layers, each with a loss scale of its own: a status of
// its gradient in fp16, its scale, and the record.
void BM_ApplyLayerScales(benchmark::State& state) {
  constexpr uint32_t kLayers = 1000;
  Engine engine;
  Effects effects;
  OpenRun(0, 1, &engine, &effects);
  OpNames names;
  OpColumns gradients;
  StepColumns step;
  const auto stat = [&](OpStat s, float value) {
    OpStatColumn column;
    column.values.assign(kLayers, value);
    gradients.stat[static_cast<int>(s)] = std::move(column);
  };
  for (auto& count : gradients.count) count = SparseCounts{};
  for (uint32_t i = 0; i < kLayers; ++i) {
    OpName op;
    op.name = "layers." + std::to_string(i);
    op.dtype = Dtype::kFp16;
    op.order = static_cast<int32_t>(i);
    names.ops.push_back(op);
    gradients.AddGroup(0, kStart);
    gradients.op.push_back(i);
    gradients.slot.push_back(Slot::kGradOutput);
    gradients.elements.push_back(1 << 20);
    step.layer_scales.push_back({.row = 0, .op = i, .scale = 1024});
  }
  stat(OpStat::kAbsMax, 1.5f);
  stat(OpStat::kLog2Mean, -6);
  stat(OpStat::kLog2Std, 2.5f);
  step.step.push_back(0);
  step.time.push_back(kStart);
  Column loss;
  loss.values.push_back(2);
  step.field[static_cast<int>(StepField::kLoss)] = std::move(loss);
  engine.Apply(kStart, RunEvent(0, 0, OpNamesAdded{names}), &effects);
  Event ops = RunEvent(0, 0, OpBatch{gradients});
  Event record = RunEvent(0, 0, StepBatch{step});
  Time now = kStart + std::chrono::seconds(1);
  for (auto _ : state) {
    ops.sequence = ++record.sequence;
    ++record.sequence;
    ++std::get<OpBatch>(ops.body).columns.groups.front().step;
    ++std::get<StepBatch>(record.body).columns.step[0];
    engine.Apply(now, ops, &effects);
    engine.Apply(now, record, &effects);
  }
  state.SetItemsProcessed(state.iterations() * kLayers);
}
BENCHMARK(BM_ApplyLayerScales);

}  // namespace
}  // namespace nanwatch
