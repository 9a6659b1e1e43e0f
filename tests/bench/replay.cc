// replay: how fast a restart judges a history that holds no checkpoint.

#include "app/replay.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "history/history.h"

namespace nanwatch {
namespace {

constexpr int kBatches = 20000;
constexpr int kRows = 100;
constexpr int kRuns = 8;

Event RunEvent(int run, EventBody body) {
  Event event;
  event.run = RunKey{"run-" + std::to_string(run), 0};
  event.rank = 0;
  event.session = static_cast<SessionId>(run + 1);
  event.body = std::move(body);
  return event;
}

// Noise, so that nothing compresses better than in earnest.
double Noise() {
  static std::mt19937_64 random(1);
  return std::uniform_real_distribution<double>(-1, 1)(random);
}

StepBatch Batch(int64_t first, Time now) {
  StepColumns columns;
  for (const StepField field :
       {StepField::kLoss, StepField::kLossScale, StepField::kGradNorm,
        StepField::kLearningRate}) {
    columns.field[static_cast<int>(field)] = Column();
  }
  for (int i = 0; i < kRows; ++i) {
    columns.step.push_back(first + i);
    columns.time.push_back(now + std::chrono::milliseconds(i));
    const double values[] = {2 + 0.1 * Noise(), 65536, 1 + 0.2 * Noise()};
    for (int f = 0; f < 3; ++f) columns.field[f]->values.push_back(values[f]);
    columns.field[static_cast<int>(StepField::kLearningRate)]->values.push_back(
        1e-3);
  }
  columns.flag[static_cast<int>(StepFlag::kOverflow)] =
      FlagColumn{Bitmap((kRows + 7) / 8), {}};
  return StepBatch{std::move(columns)};
}

bool Write(const std::string& path) {
  HistoryOptions options;
  options.path = path;
  OpenReport report;
  auto history = History::Open(options, SystemClock(), &report);
  if (!history.ok()) {
    std::fprintf(stderr, "%s\n", history.error().c_str());
    return false;
  }
  Time now = SystemClock().Now();
  const auto append = [&](std::vector<Event> events) {
    while (!(*history)->Append(now, events)) {
      const auto wait = std::chrono::milliseconds(1);
      const auto until = std::chrono::steady_clock::now() + wait;
      while (std::chrono::steady_clock::now() < until) {
      }
    }
  };
  RunDescription description;
  description.framework = "pytorch";
  for (int run = 0; run < kRuns; ++run) {
    Event opened = RunEvent(run, RunOpened{description, "first rank"});
    opened.rank = -1;
    opened.session = 0;
    append({opened, RunEvent(run, RankOpened{})});
  }
  for (int b = 0; b < kBatches; ++b) {
    now += std::chrono::milliseconds(10);
    Event event = RunEvent(b % kRuns, Batch(int64_t{b / kRuns} * kRows, now));
    event.sequence = static_cast<Sequence>(b / kRuns + 1);
    append({event});
  }
  (*history)->Close();
  return true;
}

int Main(const std::string& path) {
  if (!Write(path)) return 1;
  Engine engine;
  const auto begun = std::chrono::steady_clock::now();
  const auto outcome = ReplayForRestart(path, &engine);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun)
          .count();
  if (!outcome.ok() || outcome->steps != uint64_t{kBatches} * kRows) {
    std::fprintf(stderr, "replay: not all steps came back\n");
    return 1;
  }
  std::printf("{\"steps_per_s\": %.0f}\n",
              static_cast<double>(outcome->steps) / seconds);
  return 0;
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  return argc == 2 ? nanwatch::Main(argv[1]) : 2;
}
