// Daemon: the process as an object: New wires, Start replays and listens, Stop
// drains. The same object serves main.cc and the tests (port 0).

#ifndef NANWATCH_APP_DAEMON_H_
#define NANWATCH_APP_DAEMON_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/audit_log.h"
#include "app/bench_feeder.h"
#include "app/notice_gate.h"
#include "app/outbox.h"
#include "app/past_runs.h"
#include "app/pipeline.h"
#include "app/push_side.h"
#include "app/run_comparisons.h"
#include "app/self_report.h"
#include "app/upstream_side.h"
#include "app/web_side.h"
#include "base/clock.h"
#include "base/published.h"
#include "base/result.h"
#include "config/config.h"
#include "engine/engine.h"
#include "history/history.h"
#include "model/snapshot.h"
#include "notify/notifier.h"
#include "rpc/server.h"

namespace nanwatch {

class Daemon {
 public:
  // Opens history, replays it, and listens. On an error nothing is left
  // running. `clock` must outlive the daemon.
  static Result<std::unique_ptr<Daemon>> Start(DaemonConfig config,
                                               Clock& clock);
  // Stop(), if it was not called.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // A configuration that was read again, or why it could not be, by whom. The
  // sections `rules`, `engine`, `alerts` and `access` of a configuration
  // that was read again, and the file web.config_file. Everything else takes
  // effect at a restart. An error: the old ones stay. Any thread.
  Status Reload(const Result<DaemonConfig>& config, const Caller& who);

  // Refuses what comes, judges and commits what is there, says goodbye.
  // Bounded: 5 s.
  void Stop();

  std::string ingest_address() const;  // "unix:/run/nanwatch/ingest.sock"
  // "http://127.0.0.1:9765", or empty
  std::string http_address() const { return web_.address(); }
  std::shared_ptr<const Snapshot> snapshot() const { return published_.Get(); }
  // What is not as it should be, in sentences; else that it judges.
  std::string Condition() const;
  // Rises while the pipeline turns; for the watchdog.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

 private:
  Daemon(DaemonConfig config, Clock& clock);
  Status OpenHistory();
  Status ServeHttp();
  // Empty: ready.
  std::string NotReady() const;
  Status Replay();
  void BeginAfter(Time newest);
  void SendDifference();
  Status Listen();
  void StartPipeline();
  // All that was acknowledged before the call is in it: who was told that his
  // records are held finds them. A pipeline that hangs is waited for a second.
  std::shared_ptr<const Snapshot> UpToDate() const;
  // What is in the snapshot now is in the history, too; a history that hangs is
  // waited for a second. Only with a history.
  void WaitUntilStored() const;
  Status Take(const DaemonConfig& config);
  // Posts what a person says to a run.
  template <typename Said>
  Status Say(const RunKey& run, const Said& said, const Caller& who);
  std::vector<SelfSample> SelfSamples();
  bool history_on() const { return history_ != nullptr; }

  // Constant after construction.
  const DaemonConfig config_;
  Clock& clock_;
  Time started_{};
  Time last_write_{};  // of the daemon before this one

  // Their own synchronization; in the order in which they are made.
  std::unique_ptr<AuditLog> audit_;
  MonotonicClock pipeline_clock_;
  Published<Snapshot> published_;
  std::atomic<bool> wired_{false};  // all below, but for the servers, is there
  std::atomic<bool> ready_{false};
  std::atomic<uint64_t> turns_{0};
  std::atomic<bool> stop_{false};
  ReloadState reload_;
  ReplayState replayed_;
  std::unique_ptr<History> history_;             // null: off
  std::unique_ptr<PastRuns> past_runs_;          // null: history is off
  std::unique_ptr<RunComparisons> comparisons_;  // null: history is off
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<NoticeGate> gate_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<Engine> engine_;  // the pipeline thread's
  std::unique_ptr<Pipeline> pipeline_;
  std::thread pipeline_thread_;
  std::unique_ptr<BenchFeeder> bench_feeder_;  // null: history is off
  std::unique_ptr<RpcServer> rpc_;
  UpstreamSide upstream_;
  PushSide push_;
  WebSide web_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_DAEMON_H_
