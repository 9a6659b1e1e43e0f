// Openings: as which run, attempt and rank a session comes in.

#include <string>
#include <string_view>
#include <utility>

#include "engine/admission.h"
#include "engine/admission_parts.h"
#include "engine/registry.h"

namespace nanwatch {
namespace {

// True when a rank may open in the run without making it another attempt.
bool MayJoin(const RunState& run, int32_t rank) {
  if (run.FindRank(rank) != nullptr) return false;
  return !run.closed() || run.ended_in_order();
}

// True when a relay brings a rank late that opened before `newest` did: it is
// of its own attempt, though that one is over.
bool IsOfBefore(const OpenSessionMessage& message, const RunState& run,
                const RunState* newest) {
  return message.relayed && run.FindRank(message.rank.rank) == nullptr &&
         (newest == nullptr || newest == &run ||
          *message.relayed < newest->opened());
}

}  // namespace

Admitted Admission::Open(Time now, OpenSessionMessage message,
                         const Caller& caller, std::string_view fresh_id) {
  const Duration skew =
      message.client_time == Time{} ? Duration(0) : message.client_time - now;
  if (const SessionEntry* held = registry_.FindSession(message.session)) {
    if (auto refused = NotTheirs(held->run->key(),
                                 held->run->description().owner, caller)) {
      return *refused;
    }
    return Resume(message, *held, skew);
  }
  const RunKey key = Resolve(message, fresh_id);
  const std::string_view owner = registry_.OwnerOf(key.run_id);
  if (auto refused = NotTheirs(key, owner, caller)) return *refused;
  if (auto refused =
          TooMany(key, message, owner.empty() ? caller.name : owner)) {
    Admitted admitted;
    admitted.refused = std::move(refused);
    return admitted;
  }
  Admitted admitted;
  const RunState* run = registry_.FindRun(key);
  const std::optional<int32_t> before = registry_.LatestAttempt(key.run_id);
  const bool next_attempt = before && *before < key.attempt;
  if (run == nullptr || run->closed()) {
    const char* reason = run != nullptr ? "another rank opened"
                         : !before      ? "first rank"
                         : next_attempt ? "rank opened again"
                                        : "first rank";
    SupersedeOlder(key, &admitted.events);
    const RunState* previous = registry_.FindRun({key.run_id, key.attempt - 1});
    RunOpened body{message.run, reason};
    // An administrator who goes on with a run does not take it.
    if (run != nullptr) {
      body.description.owner = run->description().owner;
    } else {
      body.description.owner = owner.empty() ? caller.name : std::string(owner);
    }
    if (previous != nullptr && run == nullptr) previous->WriteBefore(&body);
    admitted.events.push_back(MakeEvent(key, std::move(body)));
  }
  Event opened =
      MakeEvent(key, RankOpened{message.rank, /*ops_known=*/0, skew.count()});
  opened.rank = message.rank.rank;
  opened.session = message.session;
  admitted.events.push_back(std::move(opened));
  admitted.opened = OpenedSession{.run = key,
                                  .held_sequence = message.acked,
                                  .ops_held = 0,
                                  .next_attempt = next_attempt,
                                  .owner = std::string(owner)};
  SessionClock& clock = clocks_[message.session];
  clock.acked = message.acked;
  if (message.relayed) clock.lag = Duration(0);
  return admitted;
}

Admitted Admission::Resume(const OpenSessionMessage& message,
                           const SessionEntry& session, Duration skew) {
  const RunKey& key = session.run->key();
  const RankState& rank = *session.rank;
  if (rank.description.rank != message.rank.rank ||
      (!message.run_id.empty() && message.run_id != key.run_id)) {
    return Refuse(RefusalReason::kInvalid,
                  "session " + Hex(message.session) + " belongs to rank " +
                      std::to_string(rank.description.rank) + " of " +
                      NameOf(key) + ": a new process needs a new session id");
  }
  Admitted admitted;
  if (rank.life == LifeState::kLost) {
    if (session.run->closed()) {
      admitted.events.push_back(MakeEvent(
          key, RunOpened{session.run->description(), "a lost rank came back"}));
    }
    Event opened = MakeEvent(
        key, RankOpened{message.rank, static_cast<uint32_t>(rank.ops.names()),
                        skew.count()});
    opened.rank = message.rank.rank;
    opened.session = message.session;
    admitted.events.push_back(std::move(opened));
  }
  SessionClock& clock = clocks_[message.session];
  Sequence& acked = clock.acked;
  acked = std::max(acked, message.acked);
  // What waited for the upstream is late, and its stamps are right.
  if (message.relayed) clock.lag = Duration(0);
  admitted.opened =
      OpenedSession{.run = key,
                    .held_sequence = std::max(rank.last_sequence, acked),
                    .ops_held = static_cast<uint32_t>(rank.ops.names()),
                    .resumed = true,
                    .owner = session.run->description().owner};
  return admitted;
}

RunKey Admission::Resolve(const OpenSessionMessage& message,
                          std::string_view fresh_id) const {
  if (message.run_id.empty()) return {std::string(fresh_id), 0};
  const std::optional<int32_t> latest = registry_.LatestAttempt(message.run_id);
  if (!latest) return {message.run_id, message.attempt.value_or(0)};
  if (message.attempt && *message.attempt > *latest) {
    return {message.run_id, *message.attempt};
  }
  const auto joins = [&](int32_t attempt) {
    const RunState* run = registry_.FindRun({message.run_id, attempt});
    return run != nullptr && MayJoin(*run, message.rank.rank);
  };
  if (message.attempt) {
    const RunKey own{message.run_id, *message.attempt};
    const RunState* run = registry_.FindRun(own);
    const RunState* newest = registry_.FindRun({message.run_id, *latest});
    const bool of_before = run != nullptr && IsOfBefore(message, *run, newest);
    if (message.relayed ? of_before : joins(own.attempt)) return own;
  }
  return {message.run_id, joins(*latest) ? *latest : *latest + 1};
}

// Attempts before this one in which nobody is left.
void Admission::SupersedeOlder(const RunKey& key,
                               std::vector<Event>* events) const {
  for (const RunState* run : registry_.AttemptsBefore(key)) {
    if (run->closed() || run->OpenRanks() > 0) continue;
    events->push_back(MakeEvent(run->key(), RunClosed{"superseded"}));
  }
}

}  // namespace nanwatch
