// Replay: history through the engine again. For a restart, and for `nanwatch
// replay`.

#ifndef NANWATCH_APP_REPLAY_H_
#define NANWATCH_APP_REPLAY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/reading_engine.h"
#include "base/result.h"
#include "engine/engine.h"
#include "history/reader.h"
#include "model/incident.h"
#include "model/snapshot.h"

namespace nanwatch {

// The engine that wrote a history, as its DaemonStarted says.
struct EngineStamp {
  std::string version;
  std::string build;  // empty: not recorded
  bool operator==(const EngineStamp&) const = default;
};

struct ReplayOutcome {
  uint64_t events = 0;
  uint64_t damaged = 0;  // passed over
  uint64_t steps = 0;
  Time newest{};  // `now` of the last event
  // Each once, in the order in which they first started.
  std::vector<EngineStamp> recorded_by;
  // Runs of which the file does not hold every record (retention, an export of
  // what retention left, a disk that was full): judged on from the checkpoints
  // of this engine that know of more, or, without one, from what is left.
  std::vector<RunKey> trimmed;
};

// What a restart needs: the newest usable checkpoints and what follows them.
// Effects are dropped.
Result<ReplayOutcome> ReplayForRestart(const std::string& path, Engine* engine);

// Every event of the file, checkpoints left out (but for trimmed runs): judged
// anew from the first, and then on to `until`, if that is later: what timers
// alone did after the last event. `told`, which may be empty, hears every
// notice.
Result<ReplayOutcome> ReplayAll(
    HistoryReader* reader, ReadingEngine* engine, Time until = {},
    const std::function<void(const Notice&)>& told = {});

// The steps that ReplayRun judges again at most: some seconds of work.
inline constexpr uint64_t kReplayedStepsMax = 20'000'000;

// One attempt as it was when it ended, under the rules and options that held
// then. Damaged events are passed over. An error is a sentence for the person
// who asked.
Result<std::shared_ptr<const RunView>> ReplayRun(
    HistoryReader* reader, const RunKey& run,
    uint64_t steps_max = kReplayedStepsMax);

// What the world must hear after a restart.
struct RestartNotices {
  std::vector<Notice> unsent;  // differ from what was last sent
  std::vector<Notice> firing;  // were said, and go on
};
RestartNotices CompareWithSent(
    const Snapshot& snapshot,
    const std::vector<std::pair<RunKey, Incident>>& sent);

}  // namespace nanwatch

#endif  // NANWATCH_APP_REPLAY_H_
