// Engine: the deterministic function (now, event) -> Effects, and everything it
// remembers. One thread, no clock, no I/O. Replay is calling Apply again:
// nothing but Apply and Advance changes a judgement.

#ifndef NANWATCH_ENGINE_ENGINE_H_
#define NANWATCH_ENGINE_ENGINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/admission.h"
#include "model/engine_options.h"
#include "model/event.h"
#include "model/request.h"
#include "model/snapshot.h"

namespace nanwatch {

// Returns what every checkpoint names; checkpoints of another version are not
// used. It is a number, to be raised in engine/CMakeLists.txt when an older
// checkpoint must not be used, and a hash of the headers that say what a
// checkpoint holds, so that a change of the state's shape cannot be forgotten.
// "3.5d0c77a1".
std::string_view EngineVersion();
// Returns what was built: the project's version and a hash of all that decides.
// Two engines of one build judge alike; of two builds nobody knows.
// "0.1.0+8c2f1d77e0a4".
std::string_view EngineBuild();

// What should happen outside, once the event is committed.
struct Effects {
  std::vector<Notice> notices;
  std::vector<Request> requests;
  // Runs that the engine closed by itself (lost for too long): append a
  // RunClosed event for each, then apply it.
  std::vector<RunKey> close;
  bool empty() const {
    return notices.empty() && requests.empty() && close.empty();
  }
  void Clear() {
    notices.clear();
    requests.clear();
    close.clear();
  }
};

// Counters of what the engine met; ever rising.
struct EngineStats {
  uint64_t steps = 0;
  uint64_t op_statuses = 0;
  uint64_t events = 0;
  uint64_t duplicates = 0;
  uint64_t refused = 0;
  uint64_t late_op_statuses = 0;
  // What there was no room for, by the limit that was hit.
  uint64_t pending_ops_not_kept = 0;
  uint64_t watched_ops_not_kept = 0;
  uint64_t findings_not_kept = 0;
  uint64_t incidents_not_opened = 0;
  uint64_t run_ids_forgotten = 0;     // limits::kRunIds
  uint64_t unusable_checkpoints = 0;  // of another version, or damaged
  uint64_t sessions = 0;              // open now
  uint64_t runs = 0;                  // held now
  uint64_t ticks = 0;                 // looks at runs because time passed
};

class Engine {
 public:
  // Begins with the default rules and options until a RulesLoaded is applied.
  Engine();
  ~Engine();

  // Looks at a message of a client that arrives at `now` without changing what
  // is decided: duplicates, sequence, limits, attempt, times. The caller
  // appends the events to history and applies them, in order, before the next
  // Admit. `fresh_id` names a run whose client gave none.
  Admitted Admit(Time now, ClientMessage message, std::string_view fresh_id);

  // What owners of runs may have, as Admit sees it; decides nothing.
  void SetQuotas(UserQuotas quotas);

  // Takes note of an attempt that history knows and this engine may not hold
  // any more, so that Admit gives its number to no other, and the next one to
  // its owner alone. Decides nothing.
  void KnowAttempt(const RunKey& run, std::string_view owner);

  // Returns the events (RankLost) that say of a session that its stream ended
  // without a close, to be appended and applied like Admit's. Empty: the
  // session is not open.
  std::vector<Event> Lose(SessionId session, std::string_view reason) const;
  // Returns the sessions that are open (not closed, not lost), by opening.
  // After replay the caller loses those whose client does not come back.
  std::vector<SessionId> OpenSessions() const;

  // Returns what a session that goes on after its stream broke must hear again:
  // the request may have been lost with the stream. nullopt: it was not asked
  // to stop.
  std::optional<Request> StopAsked(SessionId session) const;

  // Fires every timer that is due before or at `now`, in order of their due
  // times, then takes the event in. Appends to `*effects`.
  // REQUIRES: now never falls.
  void Apply(Time now, const Event& event, Effects* effects);
  void Advance(Time now, Effects* effects);
  // Returns when Advance has something to do next.
  std::optional<Time> NextTimer() const;

  // Returns the engine's whole state of one run, to be applied again as an
  // event. nullopt: no such run. Call Advance(now) before, where `now` is the
  // time that the checkpoint is kept under.
  std::optional<Event> Checkpoint(const RunKey& run) const;
  // Returns the live runs, in the order they opened.
  std::vector<RunKey> LiveRuns() const;
  // Counts the step records and op statuses of `run` that were judged. 0: no
  // such run.
  uint64_t Judged(const RunKey& run) const;

  // Brings `base` up to date with what changed since the last call; shares the
  // rest. Cost follows the changed runs and ranks, not all.
  std::shared_ptr<const Snapshot> Publish(Time now, uint64_t event_id,
                                          const Snapshot& base);
  // True when Publish would show something new.
  bool dirty() const;

  const EngineStats& stats() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ENGINE_H_
