// replay: how fast a restart judges a history that holds no checkpoint, and
// what it costs beside its two parts alone: decoding the events, and judging
// them.

#include "app/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "history/history.h"
#include "history/reader.h"

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

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

double CpuOf(const std::function<void()>& work) {
  const double begun = CpuSeconds();
  work();
  return CpuSeconds() - begun;
}

void Decode(const std::string& path,
            const std::function<void(const StampedEvent&)>& visit) {
  auto reader = HistoryReader::Open(path);
  if (!reader.ok()) return;
  (void)(*reader)->ForEachRestartEvent(EngineVersion(),
                                       [&](const StampedEvent& event) {
                                         visit(event);
                                         return true;
                                       });
}

// CPU-seconds of a restart and of its parts.
struct Turn {
  double restart = 0;
  double decoding = 0;
  double judging = 0;
  double ratio() const { return restart / (decoding + judging); }
};

int Main(const std::string& path) {
  constexpr int kTurns = 5;
  if (!Write(path)) return 1;
  std::vector<StampedEvent> events;
  Decode(path, [&](const StampedEvent& event) { events.push_back(event); });
  std::vector<Turn> turns(kTurns);
  uint64_t steps = 0;
  double least = HUGE_VAL;
  for (Turn& turn : turns) {
    const auto begun = std::chrono::steady_clock::now();
    turn.restart = CpuOf([&] {
      Engine engine;
      const auto outcome = ReplayForRestart(path, &engine);
      steps = outcome.ok() ? outcome->steps : 0;
    });
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - begun;
    least = std::min(least, taken.count());
    uint64_t decoded = 0;
    turn.decoding =
        CpuOf([&] { Decode(path, [&](const StampedEvent&) { ++decoded; }); });
    turn.judging = CpuOf([&] {
      Engine engine;
      Effects effects;
      for (const StampedEvent& event : events) {
        effects.Clear();
        engine.Apply(event.now, event.event, &effects);
      }
    });
    if (steps != uint64_t{kBatches} * kRows || decoded != events.size()) {
      std::fprintf(stderr, "replay: not all steps came back\n");
      return 1;
    }
  }
  std::sort(turns.begin(), turns.end(),
            [](const Turn& a, const Turn& b) { return a.ratio() < b.ratio(); });
  const Turn& turn = turns[kTurns / 2];
  std::printf(
      "{\"steps_per_s\": %.0f, \"ratio\": %.3f, \"restart_s\": %.3f, "
      "\"decoding_s\": %.3f, \"judging_s\": %.3f}\n",
      static_cast<double>(steps) / least, turn.ratio(), turn.restart,
      turn.decoding, turn.judging);
  return 0;
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  return argc == 2 ? nanwatch::Main(argv[1]) : 2;
}
