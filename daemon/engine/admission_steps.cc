// Times of records, and steps that go back.

#include <algorithm>
#include <array>
#include <utility>

#include "engine/admission.h"
#include "engine/registry.h"
#include "engine/step_slice.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

constexpr Duration kApart = std::chrono::milliseconds(1);
constexpr Duration kClockJump = std::chrono::minutes(1);

// Where the steps of each optimizer in a batch go back behind what was
// finished.
class StepOrder {
 public:
  StepOrder(const StepColumns& columns, const SessionEntry& session)
      : columns_(columns) {
    for (const OptimizerTrack& track : session.rank->tracks) {
      const std::string& name = session.run->OptimizerName(track);
      if (columns.optimizers.empty() && name.empty()) {
        newest_[0] = track.newest.step;
      }
      for (size_t i = 0; i < columns.optimizers.size(); ++i) {
        if (columns.optimizers[i] == name) newest_[i] = track.newest.step;
      }
    }
  }

  // The first row from `from` on that goes back; rows() when none does. The
  // next call looks on from there, with everything forgotten.
  size_t NextBack(size_t from) {
    for (size_t row = from; row < columns_.rows(); ++row) {
      int64_t& newest =
          newest_[columns_.optimizer.empty() ? 0 : columns_.optimizer[row]];
      if (columns_.step[row] < newest) {
        newest_.fill(INT64_MIN);
        return row;
      }
      newest = columns_.step[row];
    }
    return columns_.rows();
  }

 private:
  static constexpr std::array<int64_t, 256> Nothing() {
    std::array<int64_t, 256> none{};
    none.fill(INT64_MIN);
    return none;
  }
  const StepColumns& columns_;
  std::array<int64_t, 256> newest_ = Nothing();  // by index of the batch
};

}  // namespace

Duration Admission::Offset(Time now, Time sent, Time newest,
                           SessionId session) {
  auto& [offset, lag, acked] = clocks_[session];
  const Duration seen = now - (sent == Time{} ? newest : sent);
  if (!offset || seen < *offset ||
      (sent != Time{} && seen - *offset > kClockJump)) {
    offset = seen;
  }
  // Stamps that are behind the client's own clock in every batch are of another
  // clock (local time, say); what waited while nobody listened is behind only
  // in some.
  if (sent != Time{})
    lag = std::min(lag.value_or(sent - newest), sent - newest);
  return *offset + (lag > kClockJump ? *lag : Duration(0));
}

void Admission::Shift(Time now, Time sent, SessionId session,
                      const RankState& rank, StepColumns* columns) {
  if (columns->rows() == 0) return;
  const Duration offset = Offset(now, sent, columns->time.back(), session);
  Time last = rank.last_record;
  for (Time& time : columns->time) {
    time = std::min(std::max(time + offset, last + kApart), now);
    time = std::max(time, last);
    last = time;
  }
}

void Admission::Shift(Time now, Time sent, SessionId session,
                      OpColumns* columns) {
  if (columns->rows() == 0) return;
  std::vector<OpGroup>& groups = columns->groups;
  const Duration offset = Offset(now, sent, groups.back().time, session);
  for (OpGroup& group : groups) group.time = std::min(group.time + offset, now);
}

void Admission::Steps(StepColumns columns, Event event,
                      const SessionEntry& session, Admitted* admitted) const {
  StepOrder order(columns, session);
  size_t from = 0;
  size_t back = order.NextBack(0);
  if (back == columns.rows()) {
    event.body = StepBatch{std::move(columns)};
    admitted->events.push_back(std::move(event));
    return;
  }
  const Sequence sequence = std::exchange(event.sequence, 0);
  int splits = 0;
  while (true) {
    if (back > from) {
      event.body = StepBatch{SliceRows(columns, from, back)};
      admitted->events.push_back(event);
    }
    if (back == columns.rows()) break;
    const RunKey next{event.run.run_id, event.run.attempt + 1};
    if (++splits > limits::kAttemptsPerBatch) {
      admitted->refused = RefusedMessage{
          .reason = RefusalReason::kInvalid,
          .message = "rank " + std::to_string(event.rank) +
                     " sent a batch whose steps go back " +
                     std::to_string(splits) +
                     " times: count steps up, or name the optimizers"};
    } else if (registry_.FindRun(next) == nullptr) {
      admitted->refused = TooManyRuns(next, session.run->description().owner);
    }
    if (admitted->refused) {
      admitted->events.clear();
      event.run = session.run->key();
      event.sequence = sequence;
      event.body = Dropped{.steps = columns.rows(),
                           .first_step = columns.step.front(),
                           .last_step = columns.step.back()};
      admitted->events.push_back(std::move(event));
      return;
    }
    NextAttempt(event, session, event.run.attempt + 1, &admitted->events);
    ++event.run.attempt;
    from = back;
    back = order.NextBack(from);
  }
  admitted->events.back().sequence = sequence;
  admitted->moved_to = event.run.attempt;
}

void Admission::NextAttempt(const Event& event, const SessionEntry& session,
                            int32_t attempt, std::vector<Event>* events) const {
  const RunKey key{event.run.run_id, attempt};
  // The last one to leave closes the door.
  const RunState* left = registry_.FindRun(event.run);
  const auto stays = [&](const auto& r) {
    return r->life == LifeState::kOpen && r->description.rank != event.rank;
  };
  Event ended = RecordsEndOf(event, RecordsEnded::How::kBeganAgain);
  if (left == nullptr ||
      std::none_of(left->ranks().begin(), left->ranks().end(), stays)) {
    ended.rank = -1;
    ended.session = 0;
    events->push_back(ended);
    ended.body = RunClosed{"superseded"};
  }
  events->push_back(std::move(ended));
  if (registry_.FindRun(key) == nullptr) {
    Event opened;
    opened.run = key;
    RunOpened body{session.run->description(), "steps went back"};
    session.run->WriteBefore(&body);
    opened.body = std::move(body);
    events->push_back(std::move(opened));
  }
  const auto ops = static_cast<uint32_t>(session.rank->ops.names());
  Event rank;
  rank.run = key;
  rank.rank = event.rank;
  rank.session = event.session;
  rank.body =
      RankOpened{session.rank->description, ops, session.rank->clock_skew_us};
  events->push_back(rank);
  if (ops > 0) {
    OpNames names;
    for (uint32_t op = 0; op < ops; ++op) {
      names.ops.push_back(session.run->NameOf(*session.rank, op));
    }
    rank.body = OpNamesAdded{std::move(names)};
    events->push_back(std::move(rank));
  }
}

}  // namespace nanwatch
