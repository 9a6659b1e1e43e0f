#include "app/pipeline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/audit_entries.h"
#include "base/log.h"
#include "base/resident.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPublishInterval = milliseconds(2);
// What publishing may take of the thread: a fifth. A run of 10,000 ranks that
// all report takes 40 ms each time. Ours.
constexpr int kPublishShare = 5;
constexpr Duration kCheckpointInterval = milliseconds(100);
constexpr int kCheckpointsPerTick = 4;
// A client that was refused for lack of room comes again after this.
constexpr Duration kRetryAfter = milliseconds(200);
// Memory comes back when runs leave.
constexpr Duration kRetryWithMemory = seconds(5);
constexpr Duration kMemoryLook = milliseconds(100);
// What is taken from the mailbox at a time, and from one user after the other:
// at most 10 ms of judging, after which it is looked for what others sent.
// Ours.
constexpr size_t kTurnBytes = 1 << 20;
constexpr size_t kUserTurnBytes = 64 << 10;
// New quotas that were not taken yet. Ours.
constexpr size_t kReloads = 16;
// What an upstream asked and was not passed on yet. Ours.
constexpr size_t kAsked = 1024;

}  // namespace

Pipeline::Pipeline(Engine& engine, History* history, Outbox& outbox,
                   Published<Snapshot>& published, MonotonicClock& clock,
                   uint64_t last_event_id)
    : engine_(engine),
      history_(history),
      outbox_(outbox),
      published_(published),
      clock_(clock),
      arrivals_(limits::kMailboxEvents, limits::kMailboxBytes, kUserTurnBytes),
      posted_(limits::kMailboxEvents, SIZE_MAX),
      quotas_(kReloads, SIZE_MAX),
      asked_(kAsked, SIZE_MAX),
      newest_id_(last_event_id) {
  if (history_ == nullptr) return;
  history_->OnCommitted([this](uint64_t id) {
    outbox_.Release(id);
    Wake();  // who waited for his share of the disk goes on
  });
}

Offered Pipeline::Offer(Arrival&& arrival, size_t bytes) {
  const uint64_t user = arrival.user;
  arrival.bytes = std::max<size_t>(bytes, 1);
  if (!arrival.ended) return arrivals_.TryPush(user, std::move(arrival), bytes);
  arrivals_.PushAlways(user, std::move(arrival));
  return Offered::kTaken;
}

void Pipeline::SetQuotas(UserQuotas quotas) {
  quotas_.TryPush(std::move(quotas), 0);
}

void Pipeline::Ask(Request request) {
  asked_.TryPush(std::move(request), 0);
  arrivals_.Wake();
}

bool Pipeline::Post(Event event) {
  const bool taken = posted_.TryPush(std::move(event), 0);
  arrivals_.Wake();
  return taken;
}

void Pipeline::RunOnce(Duration wait) {
  const Duration until_publish =
      engine_.dirty()
          ? std::max(Duration(0),
                     publish_every_ - (clock_.Now() - last_publish_))
          : wait;
  if (history_ != nullptr) {
    judged_.Forget(history_->committed(), clock_.Passed());
  }
  arrivals_.PopSome(
      std::min(wait, until_publish), kTurnBytes,
      [&](uint64_t user) { return judged_.MayJudge(user, clock_.Passed()); },
      &batch_);
  posted_.PopAll(Duration(0), &own_);

  const Time now = clock_.Now();
  TakeClockJump();
  if (clock_.Passed() - resident_at_ >= kMemoryLook) {
    resident_at_ = clock_.Passed();
    resident_ = ResidentBytes();
  }
  CommitOwn(now);
  asked_.PopAll(Duration(0), &requests_);
  std::move(requests_.begin(), requests_.end(),
            std::back_inserter(effects_.requests));
  CloseLostRuns(now);  // what the last turn could not
  TakeArrivals(now);
  LoseMissing(now);
  engine_.Advance(now, &effects_);
  CloseLostRuns(now);
  Spread();
  WriteCheckpoints(now);
  // Also what was committed between Append and Put.
  outbox_.Release(history_ == nullptr ? newest_id_ : history_->committed());
  MaybePublish(now);
  CopyStats();
}

void Pipeline::Drain(Duration until) {
  const Duration end = clock_.Passed() + until;
  do {
    RunOnce(milliseconds(1));
  } while (arrivals_.size() > 0 && clock_.Passed() < end);
}

void Pipeline::TakeArrivals(Time now) {
  quotas_.PopAll(Duration(0), &new_quotas_);
  if (!new_quotas_.empty()) engine_.SetQuotas(std::move(new_quotas_.back()));
  for (Arrival& arrival : batch_) {
    if (arrival.ended) {
      ending_.push_back(std::move(arrival));
      continue;
    }
    Take(now, arrival);
    MaybePublish(now);
  }
  std::erase_if(ending_,
                [&](const Arrival& one) { return End(now, one.port); });
}

bool Pipeline::RefuseForMemory(const Arrival& arrival) {
  const auto& body = arrival.message.body;
  const bool grows = std::holds_alternative<OpenSessionMessage>(body) ||
                     std::holds_alternative<OpNamesAdded>(body);
  const size_t most = grows ? memory_ : memory_ + memory_ / 8;
  // An end makes room.
  if (resident_ <= most || std::holds_alternative<CloseMessage>(body)) {
    return false;
  }
  RefusedMessage refused;
  refused.reason = RefusalReason::kBusy;
  refused.message = fmt::format(
      "nanwatchd uses {} MB of memory, at most {} MB are meant to be used: "
      "close some runs, or raise ingest.memory; send again, beginning with "
      "sequence {}",
      resident_ >> 20, memory_ >> 20, arrival.message.sequence);
  refused.expected_sequence = arrival.message.sequence;
  refused.limit = "memory";
  arrival.port->Refuse(arrival.message.session, arrival.message.sequence,
                       refused, kRetryWithMemory);
  return true;
}

void Pipeline::Take(Time now, Arrival& arrival) {
  if (RefuseForMemory(arrival)) return;
  const SessionId session = arrival.message.session;
  const Sequence sequence = arrival.message.sequence;
  if (const auto* told = std::get_if<ToldMessage>(&arrival.message.body)) {
    return TakeTold(*told);
  }
  const bool closes =
      std::holds_alternative<CloseMessage>(arrival.message.body);
  const bool lost = std::holds_alternative<LostMessage>(arrival.message.body);
  const auto* opening = std::get_if<OpenSessionMessage>(&arrival.message.body);
  const bool relayed = opening != nullptr && opening->relayed.has_value();
  std::string fresh_id;
  if (std::holds_alternative<OpenSessionMessage>(arrival.message.body)) {
    fresh_id = fmt::format("run-{:x}-{}", ToMicros(now), ++fresh_ids_);
  }
  std::optional<IngestAudit> audit;
  if (audit_) audit.emplace(arrival.message);
  Admitted admitted = engine_.Admit(now, std::move(arrival.message), fresh_id);
  auto entry = audit ? audit->Of(admitted) : std::nullopt;
  const bool resumes = admitted.opened && admitted.events.empty();
  // A refused message may leave an event that says its sequence is used. Then
  // it must not come again: it would be taken for a duplicate, and
  // acknowledged.
  const bool used = !admitted.events.empty();
  if (!Commit(now, std::move(admitted.events))) {
    RefusedMessage refused;
    refused.reason = RefusalReason::kBusy;
    refused.message = fmt::format(
        "the history of nanwatchd is behind (is its disk slow?): send again, "
        "beginning with sequence {}",
        sequence);
    refused.expected_sequence = sequence;
    refused.limit = "history_queue";
    arrival.port->Refuse(session, sequence, refused, kRetryAfter);
    return;
  }
  if (entry) audit_(*std::move(entry));
  if (used && history_ != nullptr) {
    judged_.Add(newest_id_, arrival.user, arrival.bytes);
  }
  if (admitted.refused) {
    arrival.port->Refuse(session, sequence, *admitted.refused,
                         used ? Duration(0) : kRetryAfter);
    return;
  }
  if (admitted.opened) {
    ports_[session] = arrival.port;
    sessions_[arrival.port.get()].insert(session);
    awaited_.erase(session);
    if (relayed) relayed_.insert(session);
    outbox_.Put(newest_id_, OpenedReply{arrival.port, session,
                                        std::move(*admitted.opened)});
    auto stop = resumes ? engine_.StopAsked(session) : std::nullopt;
    if (stop) outbox_.Put(newest_id_, AskReply{arrival.port, *std::move(stop)});
  } else {
    outbox_.Put(newest_id_,
                AckReply{arrival.port, session, sequence, admitted.moved_to});
  }
  if (closes || lost) {
    relayed_.erase(session);
    ports_.erase(session);
    sessions_[arrival.port.get()].erase(session);
  }
}

// Before all that comes at the new time: what the clock skipped is nobody's
// silence, and is not lived through.
void Pipeline::TakeClockJump() {
  const auto jump = clock_.TakeJump();
  if (!jump) return;
  if (jump->by < Duration(0)) {
    LogWarning(
        "the wall clock was set back: what is judged goes on from the time "
        "before, at 15/16 of the pace; a restart takes the clock as it is",
        fmt::format("by_seconds={:.0f} ahead_seconds={:.0f}",
                    ToSeconds(-jump->by), ToSeconds(clock_.ahead())));
    return;
  }
  LogWarning(
      "the wall clock was set forward: what it skipped is nobody's "
      "silence",
      fmt::format("by_seconds={:.0f}", ToSeconds(jump->by)));
  Event event;
  event.body = DaemonStarted{.engine_version = std::string(EngineVersion()),
                             .alive_until = jump->from,
                             .engine_build = std::string(EngineBuild()),
                             .clock_jumped = true};
  uncommitted_.push_front(std::move(event));
}

void Pipeline::CommitOwn(Time now) {
  std::move(own_.begin(), own_.end(), std::back_inserter(uncommitted_));
  while (!uncommitted_.empty() && Commit(now, {uncommitted_.front()})) {
    uncommitted_.pop_front();
  }
}

bool Pipeline::Commit(Time now, std::vector<Event> events) {
  if (events.empty()) return true;
  // Shared with the history thread, which encodes them while they are judged.
  const auto shared =
      std::make_shared<const std::vector<Event>>(std::move(events));
  if (history_ != nullptr) {
    if (!history_->Append(now, shared)) return false;
    newest_id_ = history_->last_id();
  } else {
    newest_id_ += shared->size();
  }
  for (const Event& event : *shared) engine_.Apply(now, event, &effects_);
  Spread();
  return true;
}

void Pipeline::Spread() {
  for (Notice& notice : effects_.notices) {
    if (history_ != nullptr) history_->SaveSent(notice.run, notice.incident);
    const bool known = IsTold(notice);
    outbox_.Put(newest_id_, NoticeReply{std::move(notice), known});
  }
  effects_.notices.clear();
  for (Request& request : effects_.requests) {
    const auto port = ports_.find(request.session);
    if (port == ports_.end()) continue;
    outbox_.Put(newest_id_, AskReply{port->second, std::move(request)});
  }
  effects_.requests.clear();
}

void Pipeline::WriteCheckpoints(Time now) {
  if (history_ == nullptr || now - last_checkpoint_ < kCheckpointInterval) {
    return;
  }
  last_checkpoint_ = now;
  int left = kCheckpointsPerTick;
  for (const RunKey& run : history_->NeedCheckpoint()) {
    const std::optional<Event> checkpoint = engine_.Checkpoint(run);
    // One that the engine does not hold must not hold up the others.
    if (!checkpoint) continue;
    if (!AppendCheckpoint(now, *checkpoint) || --left == 0) break;
  }
}

void Pipeline::CheckpointAll() {
  if (history_ == nullptr) return;
  const Time now = clock_.Now();
  for (const RunKey& run : engine_.LiveRuns()) {
    AppendCheckpoint(now, *engine_.Checkpoint(run));
  }
}

bool Pipeline::AppendCheckpoint(Time now, const Event& checkpoint) {
  if (!history_->Append(now, std::span(&checkpoint, 1))) return false;
  newest_id_ = history_->last_id();
  return true;
}

void Pipeline::MaybePublish(Time now) {
  if (!engine_.dirty()) {
    shown_ = newest_id_;
  } else if (now - last_publish_ >= publish_every_) {
    PublishNow();
  }
}

void Pipeline::PublishNow() {
  const Duration begun = clock_.Passed();
  last_publish_ = clock_.Now();
  published_.Set(engine_.Publish(last_publish_, newest_id_, *published_.Get()));
  shown_ = newest_id_;
  publish_every_ =
      std::max(kPublishInterval, kPublishShare * (clock_.Passed() - begun));
}

void Pipeline::CopyStats() {
  const EngineStats& engine = engine_.stats();
  const auto copy = [](std::atomic<uint64_t>& to, uint64_t from) {
    to.store(from, std::memory_order_relaxed);
  };
  copy(stats_.steps, engine.steps);
  copy(stats_.op_statuses, engine.op_statuses);
  copy(stats_.events, engine.events);
  copy(stats_.duplicates, engine.duplicates);
  copy(stats_.late_op_statuses, engine.late_op_statuses);
  copy(stats_.pending_ops_not_kept, engine.pending_ops_not_kept);
  copy(stats_.watched_ops_not_kept, engine.watched_ops_not_kept);
  copy(stats_.findings_not_kept, engine.findings_not_kept);
  copy(stats_.incidents_not_opened, engine.incidents_not_opened);
  copy(stats_.run_ids_forgotten, engine.run_ids_forgotten);
  copy(stats_.sessions, engine.sessions);
  copy(stats_.runs, engine.runs);
}

}  // namespace nanwatch
