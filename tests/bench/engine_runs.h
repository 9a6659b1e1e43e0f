// Runs of which the benchmarks of the engine make up the events.

#ifndef NANWATCH_TESTS_BENCH_ENGINE_RUNS_H_
#define NANWATCH_TESTS_BENCH_ENGINE_RUNS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
  // No benchmark is as long: a scale that stands still is as it should be.
  run.scaler.growth_interval = int64_t{1} << 40;
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

// A training learns in its first kFalling steps: its loss falls from 8 to 2.
inline constexpr int kFalling = 4 * kRows;

// Returns `rows` steps of a training from `first` on, with noise as it has it.
inline StepColumns HealthySteps(int64_t first, uint64_t seed = 1,
                                int rows = kRows) {
  StepColumns columns;
  const auto column = [&](StepField f, auto value) {
    Column c;
    for (int i = 0; i < rows; ++i) c.values.push_back(value(i));
    columns.field[static_cast<int>(f)] = std::move(c);
  };
  for (int i = 0; i < rows; ++i) {
    columns.step.push_back(first + i);
    columns.time.push_back(kStart + std::chrono::milliseconds(first + i));
  }
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(-1, 1);
  column(StepField::kLoss, [&](int i) {
    const double done = std::min(double(first + i) / kFalling, 1.0);
    return (8 - 6 * done) * (1 + 0.05 * noise(random));
  });
  column(StepField::kLossScale, [](int) { return 65536.0; });
  column(StepField::kGradNorm, [&](int) { return 1 + 0.2 * noise(random); });
  column(StepField::kLearningRate, [](int) { return 1e-3; });
  columns.flag[static_cast<int>(StepFlag::kOverflow)] =
      FlagColumn{Bitmap((rows + 7) / 8), {}};
  return columns;
}

// Batches of kRows healthy steps. Each of a few has noise of its own: one
// alone, and its branches are foreseen; many, and they are as cold as the
// state.
class HealthyBatches {
 public:
  HealthyBatches() {
    for (int round = 0; round <= kFalling / kRows; ++round) {
      for (uint64_t seed = 0; seed < kFew; ++seed) {
        events_.push_back(RunEvent(
            0, 0, StepBatch{HealthySteps(round * kRows, kFew * round + seed)}));
      }
    }
  }

  // Returns the event of a rank's batch number `round` (from 0), all of it
  // heard at `now`. The caller says whose it is; valid until the next.
  Event& Next(int64_t round, Time now) {
    const int64_t like = std::min<int64_t>(round, kFalling / kRows);
    Event& event = events_[like * kFew + next_++ % kFew];
    auto& columns = std::get<StepBatch>(event.body).columns;
    event.sequence = round + 1;
    for (int i = 0; i < kRows; ++i) {
      columns.step[i] = round * kRows + i;
      columns.time[i] = now;
    }
    return event;
  }

 private:
  static constexpr uint64_t kFew = 16;

  std::vector<Event> events_;  // kFew a round
  uint64_t next_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_BENCH_ENGINE_RUNS_H_
