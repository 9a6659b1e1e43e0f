// Event: everything that can change a decision. The engine is a function of
// (now, event); the history is the list of (now, event).

#ifndef NANWATCH_MODEL_EVENT_H_
#define NANWATCH_MODEL_EVENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/benchmark.h"
#include "model/engine_options.h"
#include "model/first_batches.h"
#include "model/op.h"
#include "model/past_trouble.h"
#include "model/rank.h"
#include "model/records_ended.h"
#include "model/rule.h"
#include "model/run.h"
#include "model/step.h"

namespace nanwatch {

using SessionId = uint64_t;  // random, one opening of one rank by one process
using Sequence = uint64_t;   // 1, 2, 3, ... within a session

// Also said by a daemon that goes on: its wall clock was set, and jumped from
// `alive_until` to this event.
struct DaemonStarted {
  std::string engine_version;
  // The last moment at which the daemon before this one is known to have lived;
  // epoch: unknown. Between it and this event nobody could be heard.
  Time alive_until{};
  // What the engine was built from, see EngineBuild(); empty: not recorded.
  std::string engine_build;
  bool clock_jumped = false;
};
// Everything that is set and that verdicts hang on, resolved. Holds from here
// on, for every run.
struct RulesLoaded {
  RulesInForce rules;
  EngineOptions engine;
};
struct RunOpened {
  RunDescription description;
  std::string reason;  // "first rank", "rank opened again", "steps went back"
  // Highest loss scale at a good step of the attempt before; absent: there was
  // none, or it is not held any more.
  std::optional<double> good_scale_before;
  // What the loss had come to by then. Bounded: attempts before that one are in
  // it.
  std::optional<LossReached> loss_before;
  std::optional<FirstBatches> batches_before;  // that the run began with
  // Updates of all attempts before, of their lowest ranks.
  uint64_t updates_before = 0;
  // Incidents of the attempts before, oldest attempts first; the newest
  // limits::kIncidentsPerRun.
  std::vector<PastTrouble> troubles_before;
  // What the attempt before was compared with; null: with nothing.
  std::shared_ptr<const Benchmark> benchmark;
};
struct RankOpened {
  RankDescription rank;
  uint32_t ops_known = 0;     // op names carried over from an earlier attempt
  int64_t clock_skew_us = 0;  // client - daemon at the handshake; reported only
};
struct OpNamesAdded {
  OpNames names;
};
struct StepBatch {
  StepColumns columns;
};
struct OpBatch {
  OpColumns columns;
};
// The client could not keep so many records (ring full, or too old to resend).
struct Dropped {
  uint64_t steps = 0;
  uint64_t ops = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
};
struct RankLost {
  std::string reason;  // the stream ended without a close
};
struct RankClosed {};
struct RunClosed {
  std::string reason;  // "all ranks closed", "lost", "superseded"
  // True: all ranks closed in order, and one may still join.
  bool in_order = false;
};
struct Annotation {
  enum class Kind : uint8_t { kMute, kUnmute, kAcknowledge, kStopRequest };
  Kind kind = Kind::kMute;
  uint64_t incident = 0;        // 0: the whole run
  RuleId rule = RuleId::kNone;  // mute one rule; kNone: all
  Time until{};                 // of a mute; epoch: for ever
  std::string by;               // who
  std::string reason;
};
// From here on the run's losses are held against these. Null: against none.
struct BenchmarkSet {
  std::shared_ptr<const Benchmark> benchmark;
  std::string by;  // who; empty: not known
};
// The engine's whole state of one run attempt; opaque outside engine/.
struct RunCheckpoint {
  std::string engine_version;
  std::string state;
};

using EventBody =
    std::variant<DaemonStarted, RulesLoaded, RunOpened, RankOpened,
                 OpNamesAdded, StepBatch, OpBatch, Dropped, RankLost,
                 RankClosed, RunClosed, Annotation, RunCheckpoint, RecordsEnded,
                 BenchmarkSet>;

// An event belongs to exactly one run attempt, or (DaemonStarted, RulesLoaded)
// to none: `run` is then empty.
struct Event {
  RunKey run;
  int32_t rank = -1;  // -1: of the run
  SessionId session = 0;
  // Of the client's message that made this event, the last part of it if it was
  // split; 0: not from a client's message.
  Sequence sequence = 0;
  EventBody body;
};

// An event as the engine saw it.
struct StampedEvent {
  uint64_t id = 0;  // rising; the history's
  Time now{};
  Event event;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_EVENT_H_
