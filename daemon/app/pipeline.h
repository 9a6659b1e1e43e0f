// Pipeline: the loop of the one thread that decides. Arrivals in; history, the
// engine, answers and the published snapshot out.

#ifndef NANWATCH_APP_PIPELINE_H_
#define NANWATCH_APP_PIPELINE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/outbox.h"
#include "app/uncommitted.h"
#include "base/clock.h"
#include "base/fair_mailbox.h"
#include "base/mailbox.h"
#include "base/published.h"
#include "engine/engine.h"
#include "history/history.h"
#include "model/audit.h"
#include "model/limits.h"
#include "model/quotas.h"
#include "model/snapshot.h"
#include "rpc/ingest_port.h"

namespace nanwatch {

// Figures for metrics. Written by the pipeline thread, read by any.
struct PipelineStats {
  // Of the engine: what there was no room for.
  std::atomic<uint64_t> pending_ops_not_kept{0};
  std::atomic<uint64_t> watched_ops_not_kept{0};
  std::atomic<uint64_t> findings_not_kept{0};
  std::atomic<uint64_t> incidents_not_opened{0};
  std::atomic<uint64_t> run_ids_forgotten{0};
  std::atomic<uint64_t> steps{0};
  std::atomic<uint64_t> op_statuses{0};
  std::atomic<uint64_t> events{0};
  std::atomic<uint64_t> duplicates{0};
  std::atomic<uint64_t> late_op_statuses{0};
  std::atomic<uint64_t> sessions{0};
  std::atomic<uint64_t> runs{0};
};

class Pipeline : public IngestSink {
 public:
  // `history` is null when history is off. Everything must outlive this.
  Pipeline(Engine& engine, History* history, Outbox& outbox,
           Published<Snapshot>& published, MonotonicClock& clock,
           uint64_t last_event_id);

  // Any thread.
  Offered Offer(Arrival&& arrival, size_t bytes) override;
  bool Presses(uint64_t user) override { return arrivals_.Presses(user); }
  // An event from this side: rules, an annotation. Any thread. False: too many
  // wait already, or the end has come.
  bool Post(Event event);
  void Wake() { arrivals_.Wake(); }

  // One turn of the loop: waits at most `wait` for something to do.
  void RunOnce(Duration wait);
  // Turns until nothing waits, or `until` has passed.
  void Drain(Duration until);
  // Shows what is decided so far. RunOnce does it at most every 2 ms.
  void PublishNow();
  // All events up to this id are in the published snapshot. Any thread.
  uint64_t shown() const { return shown_; }
  // Asks a trainer what somebody else asked of it: this daemon's upstream. Any
  // thread.
  void Ask(Request request);
  // Sessions open after replay whose client has not come back.
  void ExpectReturn(std::vector<SessionId> sessions, Time until);
  // Writes a checkpoint of every live run. For the orderly end.
  void CheckpointAll();
  // No arrivals from here on: they are refused as "shutting down".
  void Close() { arrivals_.Close(); }

  const PipelineStats& stats() const { return stats_; }
  // What users may have, from the next turn on. Any thread.
  void SetQuotas(UserQuotas quotas);
  // Resident memory from which on openings and names of ops are refused; from
  // an eighth more on, all records. Before the first RunOnce.
  void SetMemory(size_t bytes) { memory_ = bytes; }
  // Hears of openings, closes and refusals. Before the first RunOnce.
  void SetAudit(AuditSink audit) { audit_ = std::move(audit); }
  const MonotonicClock& clock() const { return clock_; }
  size_t mailbox_size() { return arrivals_.size(); }
  size_t mailbox_capacity() const { return arrivals_.capacity(); }

 private:
  void TakeArrivals(Time now);
  void Take(Time now, Arrival& arrival);
  void TakeTold(const ToldMessage& message);
  bool IsTold(const Notice& notice);
  // Of a message that the daemon has no memory for.
  bool RefuseForMemory(const Arrival& arrival);
  // What comes from this side waits while history is full: nobody would send it
  // again. End: false when something of it is left for the next turn.
  void TakeClockJump();
  void CommitOwn(Time now);
  bool End(Time now, const std::shared_ptr<ReplyPort>& port);
  // Appends to history and applies. False: history is full, nothing happened.
  bool Commit(Time now, std::vector<Event> events);
  void Spread();  // puts the collected effects into the outbox
  void CloseLostRuns(Time now);
  void LoseMissing(Time now);
  void WriteCheckpoints(Time now);
  // False: history is full, another time.
  bool AppendCheckpoint(Time now, const Event& checkpoint);
  void MaybePublish(Time now);
  void CopyStats();
  uint64_t newest_id() const { return newest_id_; }

  Engine& engine_;
  History* const history_;
  Outbox& outbox_;
  Published<Snapshot>& published_;
  MonotonicClock& clock_;

  // Their own synchronization.
  FairMailbox<Arrival> arrivals_;
  Mailbox<Event> posted_;
  Mailbox<UserQuotas> quotas_;
  Mailbox<Request> asked_;
  PipelineStats stats_;
  std::atomic<uint64_t> shown_{0};

  // The pipeline thread's alone.
  std::vector<Arrival> batch_;
  std::vector<Arrival> ending_;    // whose sessions are not all lost yet
  std::vector<Event> own_;         // just popped
  std::deque<Event> uncommitted_;  // of this side, in their order
  Effects effects_;
  Uncommitted judged_;
  std::vector<UserQuotas> new_quotas_;  // just popped
  std::vector<Request> requests_;       // just popped
  // Incidents that a relay told people of, and until when their news is none.
  std::map<std::pair<RunKey, uint64_t>, Time> told_;
  uint64_t newest_id_;
  size_t memory_ = limits::kResidentBytes;
  AuditSink audit_;  // unset: nobody is told
  size_t resident_ = 0;
  Duration resident_at_{};  // as clock_.Passed()
  Time last_publish_{};
  Duration publish_every_{};
  Time last_checkpoint_{};
  // Whose relay, or whose daemon, went away, and how long they are waited for.
  std::map<SessionId, Time> awaited_;
  std::set<SessionId> relayed_;
  // Only looked up and walked for deletion: order decides nothing.
  std::unordered_map<SessionId, std::shared_ptr<ReplyPort>> ports_;
  std::unordered_map<const ReplyPort*, std::set<SessionId>> sessions_;
  uint64_t fresh_ids_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_PIPELINE_H_
