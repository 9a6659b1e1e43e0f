#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "detect/all_rules.h"
#include "engine/registry.h"
#include "engine/timer_queue.h"

namespace nanwatch {

class Engine::State {
 public:
  State() : registry_(&shared_), admission_(registry_) {
    shared_.tables = std::make_unique<RuleTables>(DefaultRules());
  }

  Admission& admission() { return admission_; }
  Registry& registry() { return registry_; }
  EngineStats& stats() {
    shared_.stats.runs = registry_.runs();
    shared_.stats.sessions = shared_.open_ranks;
    return shared_.stats;
  }

  void Apply(Time now, const Event& event, Effects* effects);
  void Advance(Time now, Effects* effects);
  std::optional<Time> NextTimer() {
    const auto due = timers_.Next();
    return due ? std::optional<Time>(due->time) : std::nullopt;
  }
  bool dirty() const { return !dirty_.empty(); }
  std::shared_ptr<const Snapshot> Publish(Time now, uint64_t event_id,
                                          const Snapshot& base);

 private:
  // Where a rank's event goes; made when history began after its opening.
  SessionEntry Find(Time now, const Event& event);
  // Of a run that something was said to, at now_.
  void Touch(RunState* run);
  void Note(RunState* run);
  void Remove(RunState* run);
  void Take(Time now, const Event& event, Effects* effects);
  void OpenRank(Time now, const Event& event, const RankOpened& opened,
                Effects* effects);
  void TakeFromRank(Time now, const Event& event, Effects* effects);
  void LoadRules(Time now, const RulesLoaded& loaded, Effects* effects);
  void Load(Time now, const Event& event, Effects* effects);

  EngineShared shared_;
  Registry registry_;
  Admission admission_;
  TimerQueue timers_;
  Time now_{};                   // of the event that is applied
  std::vector<uint32_t> dirty_;  // slots, in no order, each once
  std::vector<bool> is_dirty_;   // by slot
};

void Engine::State::Touch(RunState* run) {
  run->Rouse(now_);
  Note(run);
}

void Engine::State::Note(RunState* run) {
  const uint32_t slot = run->slot();
  timers_.Set(slot, run->NextTimer(), run->timer_order());
  if (slot >= is_dirty_.size()) is_dirty_.resize(slot + 1);
  if (!run->dirty() || is_dirty_[slot]) return;
  is_dirty_[slot] = true;
  dirty_.push_back(slot);
}

void Engine::State::Apply(Time now, const Event& event, Effects* effects) {
  ++shared_.stats.events;
  if (const auto* started = std::get_if<DaemonStarted>(&event.body)) {
    // Nobody could be heard while the daemon was away, or in the time that a
    // clock skipped: that silence is not theirs, and the seconds between are
    // not lived through.
    const Time until = std::min(started->alive_until, now);
    Advance(until, effects);
    for (RunState* run : registry_.Runs()) {
      if (started->clock_jumped) run->PutOff(now - until);
      run->SkipTo(now);
      Note(run);
    }
  }
  Advance(now, effects);
  now_ = now;
  Take(now, event, effects);
}

void Engine::State::Remove(RunState* run) {
  const uint32_t slot = run->slot();
  for (const auto& rank : run->ranks()) admission_.Forget(rank->session);
  timers_.Set(slot, std::nullopt);
  registry_.RemoveRun(run);
  if (slot >= is_dirty_.size()) is_dirty_.resize(slot + 1);
  if (!is_dirty_[slot]) dirty_.push_back(slot);
  is_dirty_[slot] = true;
}

void Engine::State::Advance(Time now, Effects* effects) {
  while (const auto due = timers_.Next()) {
    if (due->time > now) break;
    RunState* const run = registry_.at(due->slot);
    if (run->Left(due->time)) {
      Remove(run);
      continue;
    }
    ++shared_.stats.ticks;
    run->Advance(due->time, now, effects);
    Note(run);
  }
}

void Engine::State::Take(Time now, const Event& event, Effects* effects) {
  if (const auto* rules = std::get_if<RulesLoaded>(&event.body)) {
    LoadRules(now, *rules, effects);
  } else if (const auto* opened = std::get_if<RunOpened>(&event.body)) {
    const bool fresh = registry_.FindRun(event.run) == nullptr;
    RunState* run = registry_.MakeRun(event.run);
    run->Open(now, *opened);
    registry_.Know(event.run, run->description().owner);
    const RunState* before =
        registry_.FindRun({event.run.run_id, event.run.attempt - 1});
    if (fresh && before != nullptr) run->Follow(now, *before);
    Touch(run);
    RunState* const leaves = registry_.ToGoFor(event.run);
    if (fresh && leaves != nullptr) Remove(leaves);
  } else if (const auto* opened = std::get_if<RankOpened>(&event.body)) {
    OpenRank(now, event, *opened, effects);
  } else if (const auto* closed = std::get_if<RunClosed>(&event.body)) {
    if (RunState* run = registry_.FindRun(event.run)) {
      run->Close(now, *closed, effects);
      Touch(run);
    }
  } else if (const auto* ended = std::get_if<RecordsEnded>(&event.body)) {
    RunState* const run = registry_.FindRun(event.run);
    const bool of_rank = event.rank >= 0;
    RankState* const rank =
        run != nullptr && of_rank ? run->FindRank(event.rank) : nullptr;
    if (run != nullptr && of_rank == (rank != nullptr)) {
      run->EndRecords(now, rank, *ended, effects);
      Touch(run);
    }
  } else if (const auto* set = std::get_if<BenchmarkSet>(&event.body)) {
    if (RunState* run = registry_.FindRun(event.run)) {
      run->SetBenchmark(now, *set, effects);
      Touch(run);
    }
  } else if (const auto* note = std::get_if<Annotation>(&event.body)) {
    if (RunState* run = registry_.FindRun(event.run)) {
      run->Annotate(now, *note, effects);
      Touch(run);
    }
  } else if (std::holds_alternative<RunCheckpoint>(event.body)) {
    Load(now, event, effects);
  } else if (!std::holds_alternative<DaemonStarted>(event.body)) {
    TakeFromRank(now, event, effects);
  }
}

void Engine::State::OpenRank(Time now, const Event& event,
                             const RankOpened& opened, Effects* effects) {
  RunState* const run = registry_.MakeRun(event.run);
  Sequence held = 0;
  const SessionEntry* before = registry_.FindSession(event.session);
  if (before != nullptr && before->run != run) {
    // The session goes on in this attempt.
    held = before->rank->last_sequence;
    RunState* const left = before->run;
    left->LeaveRank(now, before->rank, effects);
    Touch(left);
  }
  RankState* rank = run->OpenRank(now, opened, effects);
  rank->last_sequence = std::max(rank->last_sequence, held);
  registry_.Bind(event.session, run, rank);
  run->RemindToStop(*rank, effects);
  Touch(run);
}

SessionEntry Engine::State::Find(Time now, const Event& event) {
  const SessionEntry* held = registry_.FindSession(event.session);
  if (held != nullptr && held->run->key() == event.run) return *held;
  RunState* const run = registry_.MakeRun(event.run);
  RankState* rank = run->AssumeRank(now, event.rank);
  if (held == nullptr && event.session != 0) {
    registry_.Bind(event.session, run, rank);
  }
  return {run, rank};
}

void Engine::State::TakeFromRank(Time now, const Event& event,
                                 Effects* effects) {
  const SessionEntry at = Find(now, event);
  if (event.sequence > at.rank->last_sequence) {
    at.rank->last_sequence = event.sequence;
  }
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    at.run->TakeSteps(now, at.rank, steps->columns, effects);
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    at.run->TakeOps(now, at.rank, ops->columns, effects);
  } else if (const auto* names = std::get_if<OpNamesAdded>(&event.body)) {
    at.run->AddOps(at.rank, names->names);
  } else if (const auto* dropped = std::get_if<Dropped>(&event.body)) {
    at.run->Drop(at.rank, *dropped);
  } else if (std::holds_alternative<RankLost>(event.body)) {
    at.run->LoseRank(now, at.rank, effects);
  } else if (std::holds_alternative<RankClosed>(event.body)) {
    at.run->CloseRank(now, at.rank, effects);
  }
  Touch(at.run);
}

void Engine::State::LoadRules(Time now, const RulesLoaded& loaded,
                              Effects* effects) {
  shared_.tables = std::make_unique<RuleTables>(loaded.rules);
  shared_.options = loaded.engine;
  for (RunState* run : registry_.Runs()) {
    run->RulesChanged(now, effects);
    Touch(run);
  }
}

void Engine::State::Load(Time now, const Event& event, Effects* effects) {
  const auto& checkpoint = std::get<RunCheckpoint>(event.body);
  RunState* run = nullptr;
  if (checkpoint.engine_version == EngineVersion()) {
    // A session that this run holds has left where it was.
    run = registry_.LoadRun(event.run, checkpoint.state);
  }
  if (run == nullptr) {
    ++shared_.stats.unusable_checkpoints;
    return;
  }
  for (const auto& rank : run->ranks()) {
    const SessionEntry* held = registry_.FindSession(rank->session);
    if (rank->session == 0 || (held != nullptr && held->run == run)) continue;
    if (held != nullptr) {
      RunState* const left = held->run;
      left->LeaveRank(now, held->rank, effects);
      Touch(left);
    }
    registry_.Bind(rank->session, run, rank.get());
  }
  Touch(run);
}

std::shared_ptr<const Snapshot> Engine::State::Publish(Time now,
                                                       uint64_t event_id,
                                                       const Snapshot& base) {
  auto next = std::make_shared<Snapshot>(base);
  next->time = now;
  next->event_id = event_id;
  std::sort(dirty_.begin(), dirty_.end());
  for (const uint32_t slot : dirty_) {
    RunState* const run = registry_.at(slot);
    next->runs.Set(slot, run == nullptr ? nullptr : run->View());
    is_dirty_[slot] = false;
  }
  dirty_.clear();
  return next;
}

// ------------------------------------------------------------------- Engine

Engine::Engine() : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;

Admitted Engine::Admit(Time now, ClientMessage message,
                       std::string_view fresh_id) {
  Admitted admitted =
      state_->admission().Admit(now, std::move(message), fresh_id);
  state_->stats().duplicates += admitted.duplicate;
  state_->stats().refused += admitted.refused.has_value();
  return admitted;
}

void Engine::SetQuotas(UserQuotas quotas) {
  state_->admission().SetQuotas(std::move(quotas));
}

void Engine::KnowAttempt(const RunKey& run, std::string_view owner) {
  state_->registry().Know(run, owner);
}

std::vector<Event> Engine::Lose(SessionId session,
                                std::string_view reason) const {
  return state_->admission().Lose(session, reason);
}

std::vector<SessionId> Engine::OpenSessions() const {
  return state_->registry().OpenSessions();
}

std::optional<Request> Engine::StopAsked(SessionId session) const {
  const SessionEntry* held = state_->registry().FindSession(session);
  if (held == nullptr) return std::nullopt;
  return held->run->StopFor(*held->rank);
}

void Engine::Apply(Time now, const Event& event, Effects* effects) {
  state_->Apply(now, event, effects);
}

void Engine::Advance(Time now, Effects* effects) {
  state_->Advance(now, effects);
}

std::optional<Time> Engine::NextTimer() const { return state_->NextTimer(); }

std::optional<Event> Engine::Checkpoint(const RunKey& key) const {
  const RunState* run = state_->registry().FindRun(key);
  if (run == nullptr) return std::nullopt;
  Event event;
  event.run = key;
  event.body = RunCheckpoint{std::string(EngineVersion()), run->Save()};
  return event;
}

uint64_t Engine::Judged(const RunKey& key) const {
  const RunState* run = state_->registry().FindRun(key);
  return run == nullptr ? 0 : run->Judged();
}

std::vector<RunKey> Engine::LiveRuns() const {
  std::vector<RunKey> live;
  for (const RunState* run : state_->registry().Runs()) {
    if (!run->closed()) live.push_back(run->key());
  }
  return live;
}

std::shared_ptr<const Snapshot> Engine::Publish(Time now, uint64_t event_id,
                                                const Snapshot& base) {
  return state_->Publish(now, event_id, base);
}

bool Engine::dirty() const { return state_->dirty(); }

const EngineStats& Engine::stats() const { return state_->stats(); }

}  // namespace nanwatch
