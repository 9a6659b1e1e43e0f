// Runs of which the benchmarks of the engine make up the events.

#ifndef NANWATCH_TESTS_BENCH_ENGINE_RUNS_H_
#define NANWATCH_TESTS_BENCH_ENGINE_RUNS_H_

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "model/event.h"

namespace nanwatch {

inline constexpr int kRows = 100;
inline constexpr Time kStart = Time(std::chrono::hours(500000));

inline RunDescription Description() {
  RunDescription run;
  run.framework = "pytorch";
  run.precision = "fp16";
  run.overflow_mode = OverflowMode::kInfNan;
  run.scaler.kind = ScalingKind::kDynamic;
  run.scaler.name = "pytorch";
  return run;
}

inline RunKey KeyOf(int run) { return {"run-" + std::to_string(run), 0}; }

inline SessionId SessionOf(int run, int rank) {
  return (static_cast<SessionId>(run + 1) << 32) + static_cast<SessionId>(rank);
}

inline Event RunEvent(int run, int rank, EventBody body) {
  Event event;
  event.run = KeyOf(run);
  event.rank = rank;
  event.session = SessionOf(run, rank);
  event.body = std::move(body);
  return event;
}

inline void OpenRun(int run, int ranks, Engine* engine, Effects* effects) {
  RunDescription description = Description();
  description.world_size = ranks;
  Event opened = RunEvent(run, -1, RunOpened{description, "first rank"});
  opened.session = 0;
  engine->Apply(kStart, opened, effects);
  for (int rank = 0; rank < ranks; ++rank) {
    RankOpened rank_opened;
    rank_opened.rank.rank = rank;
    engine->Apply(kStart, RunEvent(run, rank, std::move(rank_opened)), effects);
  }
}

inline StepColumns HealthySteps(int64_t first, uint64_t seed = 1) {
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
  // Noise, as a training has it.
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(-1, 1);
  column(StepField::kLoss, [&](int) { return 2 + 0.1 * noise(random); });
  column(StepField::kLossScale, [](int) { return 65536.0; });
  column(StepField::kGradNorm, [&](int) { return 1 + 0.2 * noise(random); });
  column(StepField::kLearningRate, [](int) { return 1e-3; });
  columns.flag[static_cast<int>(StepFlag::kOverflow)] =
      FlagColumn{Bitmap((kRows + 7) / 8), {}};
  return columns;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_BENCH_ENGINE_RUNS_H_
