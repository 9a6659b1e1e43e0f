#include "app/replay.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace nanwatch {
namespace {

template <typename T>
void AddOnce(const T& item, std::vector<T>* items) {
  if (std::find(items->begin(), items->end(), item) == items->end()) {
    items->push_back(item);
  }
}

// `engine`: an Engine or a ReadingEngine.
template <typename AnyEngine>
void ApplyAgain(const StampedEvent& event, AnyEngine* engine, Effects* effects,
                ReplayOutcome* outcome) {
  effects->Clear();
  engine->Apply(event.now, event.event, effects);
  ++outcome->events;
  if (const auto* steps = std::get_if<StepBatch>(&event.event.body)) {
    outcome->steps += steps->columns.rows();
  } else if (const auto* by = std::get_if<DaemonStarted>(&event.event.body)) {
    AddOnce({by->engine_version, by->engine_build}, &outcome->recorded_by);
  }
  outcome->newest = event.now;
}

bool WasSaid(const Incident& incident, const Incident& said) {
  return incident.state == said.state && incident.severity == said.severity;
}

Notice NoticeOf(const RunView& run, const Incident& incident) {
  Notice notice;
  notice.run = run.key;
  notice.job = run.description.job;
  notice.incident = incident;
  notice.resolved = incident.state == AlertState::kResolved;
  for (const CauseVerdict& cause : run.diagnosis.causes) {
    if (cause.cause == incident.cause) notice.actions = cause.actions;
  }
  return notice;
}

// Does `checkpoint` stand on records that the file does not hold?
bool KnowsMore(const StampedEvent& checkpoint, const Engine& engine) {
  Engine alone;
  Effects none;
  alone.Apply(checkpoint.now, checkpoint.event, &none);
  const RunKey& run = checkpoint.event.run;
  return alone.Judged(run) > engine.Judged(run);
}

}  // namespace

Result<ReplayOutcome> ReplayForRestart(const std::string& path,
                                       Engine* engine) {
  Result<std::unique_ptr<HistoryReader>> reader = HistoryReader::Open(path);
  if (!reader.ok()) return Error{reader.error()};
  ReplayOutcome outcome;
  Effects effects;
  const Status status = (*reader)->ForEachRestartEvent(
      EngineVersion(), [&](const StampedEvent& event) {
        ApplyAgain(event, engine, &effects, &outcome);
        return true;
      });
  outcome.damaged = (*reader)->damaged_events();
  if (!status.ok()) return Error{status.error()};
  // Attempts that ended are not held any more; their numbers stay taken.
  const Result<std::vector<RunRow>> runs = (*reader)->Runs();
  if (!runs.ok()) return Error{runs.error()};
  for (const RunRow& run : *runs) {
    engine->KnowAttempt(run.key, run.description.owner);
  }
  return outcome;
}

Result<ReplayOutcome> ReplayAll(
    HistoryReader* reader, ReadingEngine* engine, Time until,
    const std::function<void(const Notice&)>& told) {
  ReplayOutcome outcome;
  Effects effects;
  const auto tell = [&] {
    if (told)
      std::for_each(effects.notices.begin(), effects.notices.end(), told);
    effects.Clear();
  };
  Result<std::vector<RunKey>> trimmed = reader->TrimmedRuns();
  if (!trimmed.ok()) return Error{trimmed.error()};
  outcome.trimmed = std::move(*trimmed);
  const auto counts = [&](const StampedEvent& stamped) {
    const Event& event = stamped.event;
    if (!std::holds_alternative<RunCheckpoint>(event.body)) return true;
    if (!KnowsMore(stamped, engine->engine())) return false;
    AddOnce(event.run, &outcome.trimmed);
    return true;
  };
  const Status status =
      reader->ForEachEvent(0, {}, [&](const StampedEvent& event) {
        if (counts(event)) {
          ApplyAgain(event, engine, &effects, &outcome);
          tell();
        }
        return true;
      });
  outcome.damaged = reader->damaged_events();
  if (!status.ok()) return Error{status.error()};
  if (until > outcome.newest) {
    outcome.newest = until;
    engine->engine().Advance(until, &effects);
    tell();
  }
  return outcome;
}

Result<std::shared_ptr<const RunView>> ReplayRun(HistoryReader* reader,
                                                 const RunKey& run,
                                                 uint64_t steps_max) {
  ReadingEngine engine;
  ReplayOutcome outcome;
  Effects effects;
  const Status status = reader->ForEachEventFromCheckpoint(
      run, EngineVersion(), [&](const StampedEvent& event) {
        ApplyAgain(event, &engine, &effects, &outcome);
        return outcome.steps <= steps_max;
      });
  if (!status.ok()) return Error{status.error()};
  if (outcome.steps > steps_max) {
    return Error{fmt::format(
        "run {} attempt {} has ended, and judging it again takes more than {} "
        "step records: `nanwatch export` it, and `nanwatch replay` the file",
        run.run_id, run.attempt, steps_max)};
  }
  return engine.engine()
      .Publish(outcome.newest, 0, Snapshot())
      ->Find(run.run_id, run.attempt);
}

RestartNotices CompareWithSent(
    const Snapshot& snapshot,
    const std::vector<std::pair<RunKey, Incident>>& sent) {
  std::map<uint64_t, const Incident*> said;
  for (const auto& [run, incident] : sent) said[incident.id] = &incident;
  RestartNotices notices;
  snapshot.runs.ForEach([&](const RunView& run) {
    for (const Incident& incident : run.incidents) {
      if (incident.state == AlertState::kPending) continue;
      const bool resolved = incident.state == AlertState::kResolved;
      const auto found = said.find(incident.id);
      const bool known = found != said.end();
      const bool same = known && WasSaid(incident, *found->second);
      // Resolved, and nobody knew that it fired or was told that it ended.
      if (resolved && (same || !known)) continue;
      (same ? notices.firing : notices.unsent)
          .push_back(NoticeOf(run, incident));
    }
  });
  return notices;
}

}  // namespace nanwatch
