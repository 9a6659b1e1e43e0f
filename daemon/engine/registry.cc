#include "engine/registry.h"

#include <algorithm>
#include <utility>

#include "model/limits.h"

namespace nanwatch {

RunState* Registry::FindRun(const RunKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : slots_[found->second].get();
}

const SessionEntry* Registry::FindSession(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::optional<int32_t> Registry::LatestAttempt(
    const std::string& run_id) const {
  const auto found = known_.find(run_id);
  if (found == known_.end()) return std::nullopt;
  return found->second.latest;
}

std::string_view Registry::OwnerOf(const std::string& run_id) const {
  const auto found = known_.find(run_id);
  if (found == known_.end()) return {};
  return found->second.owner;
}

Holdings Registry::HeldBy(std::string_view owner) const {
  const auto found = shared_->owners.find(owner);
  return found == shared_->owners.end() ? Holdings{} : found->second;
}

void Registry::Know(const RunKey& key, std::string_view owner) {
  Known& known =
      known_.try_emplace(key.run_id, Known{key.attempt}).first->second;
  if (!owner.empty() && key.attempt >= known.latest) known.owner = owner;
  known.latest = std::max(known.latest, key.attempt);
  known.heard = ++count_;
  if (known_.size() > limits::kRunIds) ForgetOldIds();
}

// An eighth at a time, so that each costs little. Never one that is held.
void Registry::ForgetOldIds() {
  std::vector<std::map<std::string, Known>::iterator> old;
  for (auto at = known_.begin(); at != known_.end(); ++at) {
    const auto held = by_key_.lower_bound({at->first, INT32_MIN});
    const bool holds = held != by_key_.end() && held->first.run_id == at->first;
    if (!holds) old.push_back(at);
  }
  std::sort(old.begin(), old.end(), [](const auto& a, const auto& b) {
    return a->second.heard < b->second.heard;
  });
  old.resize(std::min(old.size(), limits::kRunIds / 8));
  shared_->stats.run_ids_forgotten += old.size();
  for (const auto& at : old) known_.erase(at);
}

std::vector<const RunState*> Registry::AttemptsBefore(const RunKey& key) const {
  std::vector<const RunState*> before;
  for (auto at = by_key_.lower_bound({key.run_id, INT32_MIN});
       at != by_key_.end() && at->first < key; ++at) {
    before.push_back(slots_[at->second].get());
  }
  return before;
}

RunState* Registry::ToGoFor(const RunKey& key) const {
  // Who judges what was recorded asks for all attempts at its end.
  if (shared_->options.ended_run_leaves_after == kNever) return nullptr;
  const auto first = by_key_.lower_bound({key.run_id, INT32_MIN});
  RunState* oldest = nullptr;
  size_t held = 0;
  for (auto at = first; at != by_key_.end() && at->first < key; ++at) {
    RunState* const run = slots_[at->second].get();
    if (oldest == nullptr && run->closed()) oldest = run;
    if (++held >= limits::kAttemptsHeld) return oldest;
  }
  return nullptr;
}

uint32_t Registry::FreeSlot() {
  if (free_.empty()) {
    slots_.emplace_back();
    made_.push_back(0);
    return static_cast<uint32_t>(slots_.size() - 1);
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

RunState* Registry::MakeRun(const RunKey& key) {
  if (RunState* run = FindRun(key)) return run;
  Know(key, "");
  const uint32_t slot = FreeSlot();
  made_[slot] = ++count_;
  slots_[slot] = std::make_unique<RunState>(key, slot, shared_);
  by_key_.emplace(key, slot);
  return slots_[slot].get();
}

RunState* Registry::LoadRun(const RunKey& key, std::string_view state) {
  RunState* const held = FindRun(key);
  const uint32_t slot = held != nullptr ? held->slot() : FreeSlot();
  auto loaded = std::make_unique<RunState>(key, slot, shared_);
  if (!loaded->Load(state) || loaded->key() != key) {
    if (held == nullptr) free_.push_back(slot);
    return nullptr;
  }
  Know(key, loaded->description().owner);
  if (held != nullptr) {
    UnbindAll(*held);
  } else {
    made_[slot] = ++count_;
    by_key_.emplace(key, slot);
  }
  slots_[slot] = std::move(loaded);
  BindAll(slots_[slot].get());
  return slots_[slot].get();
}

void Registry::BindAll(RunState* run) {
  for (const auto& rank : run->ranks()) {
    if (rank->session == 0) continue;
    SessionEntry& entry = sessions_[rank->session];
    entry = {run, rank.get(), ++count_};
  }
}

void Registry::UnbindAll(const RunState& run) {
  for (const auto& rank : run.ranks()) {
    const auto found = sessions_.find(rank->session);
    if (found != sessions_.end() && found->second.run == &run) {
      sessions_.erase(found);
    }
  }
}

void Registry::RemoveRun(RunState* run) {
  UnbindAll(*run);
  by_key_.erase(run->key());
  free_.push_back(run->slot());
  slots_[run->slot()].reset();
}

void Registry::Bind(SessionId session, RunState* run, RankState* rank) {
  if (rank->session != session) {
    const auto before = sessions_.find(rank->session);
    if (before != sessions_.end() && before->second.rank == rank) {
      sessions_.erase(before);
    }
    rank->session = session;
  }
  SessionEntry& entry = sessions_[session];
  if (entry.run == run && entry.rank == rank) return;
  entry = {run, rank, ++count_};
}

std::vector<SessionId> Registry::OpenSessions() const {
  std::vector<std::pair<uint64_t, SessionId>> open;
  for (const auto& [session, entry] : sessions_) {
    if (entry.rank->life == LifeState::kOpen) {
      open.emplace_back(entry.order, session);
    }
  }
  std::sort(open.begin(), open.end());
  std::vector<SessionId> sessions;
  sessions.reserve(open.size());
  for (const auto& [order, session] : open) sessions.push_back(session);
  return sessions;
}

std::vector<RunState*> Registry::Runs() const {
  std::vector<RunState*> runs;
  for (const auto& run : slots_) {
    if (run != nullptr) runs.push_back(run.get());
  }
  std::sort(runs.begin(), runs.end(),
            [this](const RunState* a, const RunState* b) {
              return made_[a->slot()] < made_[b->slot()];
            });
  return runs;
}

}  // namespace nanwatch
