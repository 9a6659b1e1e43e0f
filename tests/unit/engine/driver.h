// Driver: an engine with a clock, clients and the history of its events, as the
// pipeline would run it, for tests.

#ifndef NANWATCH_TESTS_UNIT_ENGINE_DRIVER_H_
#define NANWATCH_TESTS_UNIT_ENGINE_DRIVER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/event.h"

namespace nanwatch {

inline constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

// What a test says of one step.
struct Row {
  int64_t step = 0;
  std::optional<double> scale;
  std::optional<double> loss;
  std::optional<double> grad_norm;
  std::optional<bool> overflow;
  std::optional<bool> skipped;
  Time time{};                       // epoch: the driver's clock
  std::optional<uint64_t> digest{};  // of the replica
  std::optional<uint64_t> batch{};   // its digest
  // The other fields, by StepField.
  std::array<std::optional<double>, kStepFields> more{};
  // Layer-wise scales: index of the op, scale.
  std::vector<std::pair<uint32_t, double>> layers{};
  UpdateFault fault = UpdateFault::kNone;
  std::optional<double> stuck{};
  std::optional<SampleRange> samples{};
};
StepColumns Columns(const std::vector<Row>& rows, Time time);

// What a test says of one op status.
struct OpCell {
  int64_t step = 0;
  uint32_t op = 0;
  Slot slot = Slot::kOutput;
  uint64_t elements = 1024;
  uint64_t nan = 0;
  uint64_t inf = 0;
  uint64_t saturated = 0;
  bool flag = false;
  float abs_max = 1;
  std::optional<uint64_t> zero{};
  uint64_t neg_inf = 0;
  // The other statistics, by OpStat.
  std::array<std::optional<float>, kOpStats> more{};
};
OpColumns OpRows(const std::vector<OpCell>& cells, Time time);

class Driver {
 public:
  Driver();
  // They come as they do in life: as the first event.
  explicit Driver(const EngineOptions& options);

  Engine& engine() { return *engine_; }
  Time now() const { return now_; }
  // When the engine last heard of the time.
  Time alive_until() const { return alive_until_; }
  // Time passes, and the engine is told.
  void Wait(Duration duration);
  // Time passes unnoticed until the next message.
  void Sleep(Duration duration) { now_ += duration; }

  // Admits and applies. The answer is as the client would have it.
  Admitted Send(ClientMessage message);
  // Opens a session. `message.session` 0: the next free number.
  SessionId Open(OpenSessionMessage message);
  SessionId Open(const std::string& run_id, int32_t rank = 0, int world = 1);
  // Each sends the session's next sequence.
  Admitted Steps(SessionId session, const std::vector<Row>& rows);
  Admitted Batch(SessionId session, StepColumns columns);
  Admitted Ops(SessionId session, const std::vector<OpCell>& cells);
  Admitted Name(SessionId session, const std::vector<OpName>& ops,
                uint32_t first = 0);
  Admitted Close(SessionId session, const std::optional<ProgramEnd>& end = {});
  void Lose(SessionId session);
  void Apply(Event event);
  // An event of this side.
  void Say(RunKey run, EventBody body);

  const std::vector<StampedEvent>& history() const { return history_; }
  const Effects& effects() const { return effects_; }
  // Runs that asked to be closed since the last call.
  std::vector<RunKey> TakeClosing();
  std::shared_ptr<const Snapshot> Publish();
  // The newest attempt, or the one asked for.
  std::shared_ptr<const RunView> Run(const std::string& run_id,
                                     std::optional<int32_t> attempt = {});
  OpenedSession last_opened;

 private:
  std::unique_ptr<Engine> engine_;
  Time now_ = kStart;
  Time alive_until_ = kStart;
  std::map<SessionId, Sequence> sequences_;
  SessionId next_session_ = 1;
  std::vector<StampedEvent> history_;
  Effects effects_;
  size_t closing_taken_ = 0;
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();
};

// The rule of an incident that fires in the run, or "" when nothing does.
std::vector<std::string> Firing(const RunView& run);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_ENGINE_DRIVER_H_
