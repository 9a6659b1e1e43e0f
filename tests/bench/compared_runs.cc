// compared_runs make FILE SEED: writes a history of one run of 10,000 steps
// whose 400 ops are recorded as level "compare" does it. Two seeds are two
// healthy runs with other roundings: a comparison walks through all of them.
// compared_runs read FILE...: how long it takes to read them and no more.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "history/history.h"
#include "history/reader.h"

namespace nanwatch {
namespace {

constexpr int64_t kSteps = 10000;
constexpr int kStepsABatch = 100;
constexpr uint32_t kOps = 400;
constexpr int64_t kEvery = 64;  // the client's interval, at least
constexpr int64_t kFirst = 3;
constexpr float kRounding = 1e-7F;

bool IsRecorded(int64_t step) { return step < kFirst || step % kEvery == 0; }

class Writer {
 public:
  Writer(History* history, uint32_t seed) : history_(history), own_(seed) {}

  void Run() {
    RunDescription description;
    description.framework = "pytorch";
    Event opened = Of(RunOpened{description, "first rank"});
    opened.rank = -1;
    opened.session = 0;
    Append({opened, Of(RankOpened{}), Of(OpNamesAdded{Names()})});
    for (int64_t step = 0; step < kSteps; ++step) {
      if (IsRecorded(step)) Append({Sequenced(Of(Ops(step)))});
      if ((step + 1) % kStepsABatch == 0) {
        Append({Sequenced(Of(Steps(step + 1 - kStepsABatch)))});
      }
    }
  }

 private:
  // A forward op and its backward pass are two names.
  static OpNames Names() {
    OpNames names;
    for (uint32_t op = 0; op < 2 * kOps; ++op) {
      OpName name;
      const uint32_t at = op < kOps ? op : 2 * kOps - 1 - op;
      name.name = "layers." + std::to_string(at) + ".up";
      name.type = op < kOps ? "Linear" : "LinearBackward";
      name.dtype = Dtype::kFp32;
      name.logical_shape = {64, 1024};
      name.order = static_cast<int32_t>(op);
      names.ops.push_back(name);
    }
    return names;
  }

  StepBatch Steps(int64_t first) {
    StepColumns columns;
    Column loss, rate;
    for (int64_t step = first; step < first + kStepsABatch; ++step) {
      columns.step.push_back(step);
      columns.time.push_back(now_);
      loss.values.push_back(2 + 0.1 * Value(&common_));
      rate.values.push_back(1e-3);
    }
    columns.field[static_cast<int>(StepField::kLoss)] = std::move(loss);
    columns.field[static_cast<int>(StepField::kLearningRate)] = std::move(rate);
    return StepBatch{std::move(columns)};
  }

  OpBatch Ops(int64_t step) {
    OpColumns columns;
    for (uint32_t op = 0; op < 2 * kOps; ++op) {
      const bool forward = op < kOps;
      Row(step, op, forward ? Slot::kInput : Slot::kGradOutput, &columns);
      Row(step, op, forward ? Slot::kOutput : Slot::kGradInput, &columns);
    }
    return OpBatch{std::move(columns)};
  }

  void Row(int64_t step, uint32_t op, Slot slot, OpColumns* columns) {
    columns->sketches.rows.push_back(
        static_cast<uint32_t>(columns->step.size()));
    columns->step.push_back(step);
    columns->time.push_back(now_);
    columns->op.push_back(op);
    columns->slot.push_back(slot);
    columns->elements.push_back(65536);
    columns->digest.push_back(own_());
    for (size_t i = 0; i < kSketchSums; ++i) {
      const auto value = static_cast<float>(Value(&common_));
      const auto noise = static_cast<float>(Value(&own_));
      columns->sketches.values.push_back(value + kRounding * noise);
    }
  }

  static double Value(std::mt19937_64* random) {
    return std::uniform_real_distribution<double>(-1, 1)(*random);
  }

  static Event Of(EventBody body) {
    Event event;
    event.run = RunKey{"bench", 0};
    event.rank = 0;
    event.session = 1;
    event.body = std::move(body);
    return event;
  }

  Event Sequenced(Event event) {
    event.sequence = ++sequence_;
    return event;
  }

  void Append(const std::vector<Event>& events) {
    now_ += std::chrono::milliseconds(10);
    while (!history_->Append(now_, events)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  History* const history_;
  std::mt19937_64 common_{1};
  std::mt19937_64 own_;
  Sequence sequence_ = 0;
  Time now_ = SystemClock().Now();
};

int Make(const std::string& path, uint32_t seed) {
  HistoryOptions options;
  options.path = path;
  OpenReport report;
  auto history = History::Open(options, SystemClock(), &report);
  if (!history.ok()) {
    std::fprintf(stderr, "%s\n", history.error().c_str());
    return 1;
  }
  Writer(history->get(), seed).Run();
  (*history)->Close();
  return 0;
}

int Read(const std::vector<std::string>& paths) {
  const std::clock_t begun = std::clock();
  uint64_t rows = 0;
  for (const std::string& path : paths) {
    auto reader = HistoryReader::Open(path);
    if (!reader.ok()) {
      std::fprintf(stderr, "%s\n", reader.error().c_str());
      return 1;
    }
    const Status read =
        (*reader)->ForEachEvent(0, {}, [&rows](const StampedEvent& event) {
          const auto* ops = std::get_if<OpBatch>(&event.event.body);
          rows += ops == nullptr ? 0 : ops->columns.rows();
          return true;
        });
    if (!read.ok()) return 1;
  }
  std::printf("{\"rows\": %llu, \"cpu_s\": %.4f}\n",
              static_cast<unsigned long long>(rows),
              static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
  return rows > 0 ? 0 : 1;
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  const std::string_view mode = argc > 2 ? argv[1] : "";
  if (mode == "make" && argc == 4) {
    return nanwatch::Make(argv[2], static_cast<uint32_t>(std::atoi(argv[3])));
  }
  if (mode != "read") return 2;
  return nanwatch::Read({argv + 2, argv + argc});
}
