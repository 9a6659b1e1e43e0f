#include "engine/admission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/admission_parts.h"
#include "engine/registry.h"
#include "engine/step_slice.h"
#include "model/limits.h"
#include "model/step_extent.h"

namespace nanwatch {
namespace {

// Which of the client's messages a sentence is about.
void SayWhich(const ClientMessage& message, RefusedMessage* refused) {
  refused->message = "session " + Hex(message.session) + ", sequence " +
                     std::to_string(message.sequence) + ": " + refused->message;
}

// What is lost with a refused message.
Dropped LostWith(const ClientMessage& message) {
  const auto* steps = std::get_if<StepBatch>(&message.body);
  const auto* ops = std::get_if<OpBatch>(&message.body);
  if (steps == nullptr && ops == nullptr) return {};
  Dropped lost;
  if (steps != nullptr) {
    lost.steps = steps->columns.rows();
  } else {
    lost.ops = ops->columns.rows();
  }
  const StepExtent extent =
      steps != nullptr ? ExtentOf(steps->columns) : ExtentOf(ops->columns);
  lost.first_step = extent.first;
  lost.last_step = extent.last;
  return lost;
}

}  // namespace

Admitted Admission::Admit(Time now, ClientMessage message,
                          std::string_view fresh_id) {
  if (auto* open = std::get_if<OpenSessionMessage>(&message.body)) {
    return Open(now, std::move(*open), message.caller, fresh_id);
  }
  const SessionEntry* session = registry_.FindSession(message.session);
  if (session == nullptr || session->rank->life == LifeState::kLost) {
    return Refuse(RefusalReason::kUnknownSession,
                  "session " + Hex(message.session) +
                      " is not open: open it (again), then send what was not "
                      "acknowledged");
  }
  // On a stream of his anybody may name the session of another.
  if (auto refused =
          NotTheirs(session->run->key(), session->run->description().owner,
                    message.caller)) {
    return *refused;
  }
  if (const auto* lost = std::get_if<LostMessage>(&message.body)) {
    Admitted admitted;
    admitted.events = Lose(message.session, lost->reason);
    return admitted;
  }
  const RankState& rank = *session->rank;
  if (message.sequence <= rank.last_sequence) {
    Admitted admitted;
    admitted.duplicate = true;
    return admitted;
  }
  const auto clock = clocks_.find(message.session);
  const Sequence acked = clock == clocks_.end() ? 0 : clock->second.acked;
  const Sequence held = std::max(rank.last_sequence, acked);
  const auto out_of_sequence = [&](const std::string& why) {
    Admitted admitted = Refuse(
        RefusalReason::kOutOfSequence,
        "session " + Hex(message.session) + " sent sequence " +
            std::to_string(message.sequence) + why + std::to_string(held + 1));
    admitted.refused->expected_sequence = held + 1;
    return admitted;
  };
  // Acknowledged again, it would be lost: it is not held here.
  if (message.sequence <= held) {
    return out_of_sequence(", though it said that " + std::to_string(acked) +
                           " was acknowledged: go on with sequence ");
  }
  if (message.sequence > held + 1) {
    return out_of_sequence(" after " + std::to_string(held) +
                           ": send again from ");
  }
  if (rank.life != LifeState::kOpen) {
    return Refuse(
        RefusalReason::kUnknownSession,
        "session " + Hex(message.session) + " is closed: open a new one");
  }
  return Take(now, std::move(message), *session);
}

// ------------------------------------------------------------------ records

Admitted Admission::Take(Time now, ClientMessage message,
                         const SessionEntry& session) {
  Event event;
  event.run = session.run->key();
  event.rank = session.rank->description.rank;
  event.session = message.session;
  event.sequence = message.sequence;
  Admitted admitted;
  if (auto refused = CheckBody(message, session)) {
    SayWhich(message, &*refused);
    admitted.refused = std::move(refused);
    event.body = LostWith(message);
    admitted.events.push_back(std::move(event));
    return admitted;
  }
  if (auto* steps = std::get_if<StepBatch>(&message.body)) {
    Shift(now, message.sent, message.session, *session.rank, &steps->columns);
    Steps(std::move(steps->columns), std::move(event), session, &admitted);
    if (admitted.refused) SayWhich(message, &*admitted.refused);
    return admitted;
  }
  if (auto* ops = std::get_if<OpBatch>(&message.body)) {
    Shift(now, message.sent, message.session, &ops->columns);
    event.body = std::move(*ops);
  } else if (auto* names = std::get_if<OpNamesAdded>(&message.body)) {
    event.body = std::move(*names);
  } else if (auto* dropped = std::get_if<Dropped>(&message.body)) {
    event.body = *dropped;
  } else if (const auto* close = std::get_if<CloseMessage>(&message.body)) {
    event.body = RankClosed{};
    Closing(std::move(event), close->end, session, &admitted.events);
    return admitted;
  }
  admitted.events.push_back(std::move(event));
  return admitted;
}

std::optional<RefusedMessage> Admission::CheckBody(
    const ClientMessage& message, const SessionEntry& session) const {
  const RankState& rank = *session.rank;
  const auto refuse = [&](RefusalReason reason, const std::string& what,
                          std::string limit = "") {
    return RefusedMessage{.reason = reason,
                          .message = "rank " +
                                     std::to_string(rank.description.rank) +
                                     " of " + NameOf(session.run->key()) + what,
                          .limit = std::move(limit)};
  };
  if (const auto* names = std::get_if<OpNamesAdded>(&message.body)) {
    const size_t first = names->names.first_index;
    if (first > rank.ops.names()) {
      return refuse(RefusalReason::kInvalid,
                    " names ops from " + std::to_string(first) +
                        " but has named only " +
                        std::to_string(rank.ops.names()) +
                        ": name the ones between first");
    }
    return TooManyOps(rank, names->names, *session.run);
  } else if (const auto* ops = std::get_if<OpBatch>(&message.body)) {
    const uint32_t largest = LargestOp(ops->columns);
    if (ops->columns.rows() > 0 && largest >= rank.ops.names()) {
      return refuse(
          RefusalReason::kInvalid,
          " reports op " + std::to_string(largest) + " but has named only " +
              std::to_string(rank.ops.names()) + ": send its name first");
    }
  } else if (const auto* steps = std::get_if<StepBatch>(&message.body)) {
    for (const LayerScale& scale : steps->columns.layer_scales) {
      if (scale.op < rank.ops.names()) continue;
      return refuse(RefusalReason::kInvalid,
                    " has a scale for op " + std::to_string(scale.op) +
                        " but has named only " +
                        std::to_string(rank.ops.names()) +
                        ": send its name first");
    }
    size_t names_known = rank.tracks.size();
    for (const std::string& name : steps->columns.optimizers) {
      names_known += std::none_of(
          rank.tracks.begin(), rank.tracks.end(),
          [&](const auto& t) { return session.run->OptimizerName(t) == name; });
    }
    if (names_known > limits::kOptimizersPerRank) {
      return refuse(RefusalReason::kLimit,
                    " has more than " +
                        std::to_string(limits::kOptimizersPerRank) +
                        " optimizers: give them fewer names",
                    "optimizers");
    }
  }
  return std::nullopt;
}

void Admission::Closing(Event closed, const std::optional<ProgramEnd>& end,
                        const SessionEntry& session,
                        std::vector<Event>* events) const {
  const RunState& run = *session.run;
  const RunKey& key = run.key();
  Event ended = RecordsEndOf(
      closed, end ? RecordsEnded::How::kBroke : RecordsEnded::How::kClosed);
  std::get<RecordsEnded>(ended.body).end = end;
  events->push_back(std::move(ended));
  events->push_back(std::move(closed));
  const bool others =
      std::any_of(run.ranks().begin(), run.ranks().end(), [&](const auto& r) {
        return r.get() != session.rank && r->life != LifeState::kClosed;
      });
  if (others || run.closed()) return;
  const bool moved =
      registry_.LatestAttempt(key.run_id).value_or(0) > key.attempt;
  const std::optional<RankEnd> why = run.EndWith(*session.rank, end);
  events->push_back(
      MakeEvent(key, RecordsEnded{.how = moved ? RecordsEnded::How::kBeganAgain
                                         : why ? RecordsEnded::How::kBroke
                                               : RecordsEnded::How::kClosed}));
  events->push_back(MakeEvent(
      key, RunClosed{moved ? "superseded"
                     : why ? EndReason(*why, run.description().world_size)
                           : "all ranks closed",
                     !moved && !why}));
}

Event Admission::RecordsEndOf(const Event& event, RecordsEnded::How how) {
  Event ended = MakeEvent(event.run, RecordsEnded{.how = how});
  ended.rank = event.rank;
  ended.session = event.session;
  return ended;
}

std::vector<Event> Admission::Lose(SessionId session,
                                   std::string_view reason) const {
  const SessionEntry* entry = registry_.FindSession(session);
  if (entry == nullptr || entry->rank->life != LifeState::kOpen) return {};
  Event event = MakeEvent(entry->run->key(), RankLost{std::string(reason)});
  event.rank = entry->rank->description.rank;
  event.session = session;
  std::vector<Event> events = {std::move(event)};
  // The others went on to a newer attempt: this one is over.
  const RunKey& key = entry->run->key();
  if (registry_.LatestAttempt(key.run_id).value_or(0) > key.attempt &&
      entry->run->OpenRanks() == 1) {
    events.push_back(MakeEvent(key, RunClosed{"superseded"}));
  }
  return events;
}

}  // namespace nanwatch
