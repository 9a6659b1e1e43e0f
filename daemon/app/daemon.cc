#include "app/daemon.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "app/audit_entries.h"
#include "app/replay.h"
#include "app/version.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/open_files.h"
#include "detect/all_rules.h"
#include "history/last_write.h"
#include "history/reader.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long one turn of the pipeline waits when there is nothing to do: short
// enough for timers, long enough for an idle daemon to be idle.
constexpr Duration kTurn = milliseconds(100);
// After a restart, clients find back within a few seconds.
constexpr Duration kReturnWithin = seconds(60);
// Clocks are set back by so much in ordinary life: such a history is waited
// for.
constexpr Duration kFuture = seconds(10);
// For what waits to be judged; what is left was not acknowledged. With
// history's 2 s and the goodbye below 5 s.
constexpr Duration kDrain = seconds(1);
// For the last acks to reach their clients.
constexpr Duration kGoodbye = seconds(1);
// Readers wait for what was acknowledged, and exports for what is shown; looked
// for so often.
constexpr Duration kReaderWait = seconds(1);
constexpr Duration kReaderLook = milliseconds(1);

template <typename Done>
void WaitShortly(Done done) {
  const auto end = std::chrono::steady_clock::now() + kReaderWait;
  while (!done() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kReaderLook);
  }
}

std::string RuleNameOf(RuleId id) {
  const RuleSpec* rule = FindRule(id);
  return rule != nullptr ? std::string(rule->name) : std::string();
}

}  // namespace

Daemon::Daemon(DaemonConfig config, Clock& clock)
    : config_(std::move(config)),
      clock_(clock),
      pipeline_clock_(clock),
      published_(std::make_shared<Snapshot>()),
      web_(config_) {}

Daemon::~Daemon() { Stop(); }

Result<std::unique_ptr<Daemon>> Daemon::Start(DaemonConfig config,
                                              Clock& clock) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(config), clock));
  daemon->started_ = clock.Now();
  AllowOpenFiles(limits::kOpenFiles);
  daemon->reload_.success_us = ToMicros(daemon->started_);
  auto audit = AuditLog::Open(daemon->config_.audit, clock);
  if (!audit.ok()) return Error{audit.error()};
  daemon->audit_ = std::move(*audit);
  Status status = daemon->OpenHistory();
  if (status.ok()) status = daemon->ServeHttp();
  if (status.ok()) status = daemon->Replay();
  if (status.ok()) status = daemon->Listen();
  if (!status.ok()) return Error{status.error()};
  return daemon;
}

Status Daemon::OpenHistory() {
  if (!config_.history_enabled) return OkStatus();
  const std::string folder = ParentDirectory(config_.history.path);
  if (const Status made = MakeFolder(folder, 0700); !made) {
    return Error{
        fmt::format("the history {}: {}; or pass --history another file, or "
                    "--history off",
                    config_.history.path, made.error())};
  }
  past_runs_ = std::make_unique<PastRuns>(config_.history.path);
  comparisons_ = std::make_unique<RunComparisons>(config_.history.path);
  last_write_ = LastWrite(config_.history.path);
  OpenReport report;
  auto history = History::Open(config_.history, clock_, &report);
  if (!history.ok()) return Error{history.error()};
  history_ = std::move(*history);
  if (!report.set_aside.empty()) {
    LogWarning(
        "history was set aside",
        fmt::format("set_aside={} {}", report.set_aside, report.message));
  } else if (!report.message.empty()) {
    LogWarning("history", report.message);
  }
  return OkStatus();
}

// What was appended before this daemon, applied again; then what this daemon
// brings: its version, its rules and its options.
Status Daemon::Replay() {
  engine_ = std::make_unique<Engine>();
  Time alive_until{};
  if (history_on()) {
    const Time begun = clock_.Now();
    Result<ReplayOutcome> outcome =
        ReplayForRestart(config_.history.path, engine_.get());
    if (!outcome.ok()) {
      LogWarning("history could not be replayed, judging begins anew",
                 outcome.error());
    } else {
      replayed_.events = outcome->events;
      replayed_.damaged = outcome->damaged;
      BeginAfter(outcome->newest);
      alive_until = std::max(outcome->newest, last_write_);
    }
    replayed_.duration = clock_.Now() - begun;
    LogReplay(replayed_);
  }
  notifier_ = Notifier::Start(config_.notify, clock_);
  const bool alone = config_.upstream.address.empty();
  gate_ = std::make_unique<NoticeGate>(*notifier_, alone);
  outbox_ = std::make_unique<Outbox>(
      [this](const NoticeReply& said) {
        gate_->Offer(said.notice, said.told);
        push_.Offer(said.notice);
      },
      [this](uint64_t id) { return history_on() && history_->Stored(id); });
  pipeline_ = std::make_unique<Pipeline>(
      *engine_, history_.get(), *outbox_, published_, pipeline_clock_,
      history_on() ? history_->last_id() : 0);
  pipeline_->SetMemory(config_.server.memory_bytes);
  pipeline_->SetAudit(audit_->Sink());
  pipeline_->SetQuotas(config_.server.quotas);
  pipeline_->ExpectReturn(engine_->OpenSessions(),
                          pipeline_clock_.Now() + kReturnWithin);
  Event started;
  started.body = DaemonStarted{std::string(EngineVersion()), alive_until,
                               std::string(EngineBuild())};
  pipeline_->Post(std::move(started));
  Event rules;
  rules.body = RulesLoaded{config_.rules, config_.engine};
  pipeline_->Post(std::move(rules));
  // Readers find the runs of before from the first moment.
  pipeline_->RunOnce(Duration(0));
  pipeline_->PublishNow();
  if (history_on()) SendDifference();
  wired_ = true;
  return OkStatus();
}

// Judging goes on after the newest event. One from the future is of a clock
// that was wrong: it is not waited for.
void Daemon::BeginAfter(Time newest) {
  const Duration ahead = newest - clock_.Now();
  if (ahead <= kFuture) return pipeline_clock_.RaiseTo(newest);
  LogWarning(
      "the newest event of the history is of the future, when the wall "
      "clock was wrong: judging goes on with the clock as it is",
      fmt::format("ahead_seconds={:.0f}", ToSeconds(ahead)));
}

// Replay sends nothing; what the world was last told and what is now may
// differ, since a crash comes between a commit and its notice.
void Daemon::SendDifference() {
  auto reader = HistoryReader::Open(config_.history.path);
  if (!reader.ok()) return;
  const Result<std::vector<std::pair<RunKey, Incident>>> sent =
      (*reader)->Sent();
  if (!sent.ok()) return;
  const RestartNotices notices = CompareWithSent(*published_.Get(), *sent);
  for (const Notice& notice : notices.firing) gate_->Adopt(notice);
  for (const Notice& notice : notices.unsent) {
    history_->SaveSent(notice.run, notice.incident);
    gate_->Offer(notice, false);
  }
}

std::shared_ptr<const Snapshot> Daemon::UpToDate() const {
  if (!wired_) return published_.Get();
  const uint64_t told = outbox_->released();
  WaitShortly([&] { return pipeline_->shown() >= told; });
  return published_.Get();
}

void Daemon::WaitUntilStored() const {
  const uint64_t shown = pipeline_->shown();
  WaitShortly([&] { return history_->committed() >= shown; });
}

// Before the replay: whoever waits for readiness is told why it takes time.
Status Daemon::ServeHttp() {
  WebBackend backend;
  backend.snapshot = [this] { return UpToDate(); };
  backend.self_samples = [this] { return SelfSamples(); };
  if (history_on()) {
    backend.open_history = [path = config_.history.path] {
      return HistoryReader::Open(path);
    };
    backend.past_run = [this](std::string_view run_id,
                              std::optional<int32_t> attempt)
        -> Result<std::shared_ptr<const RunView>> {
      // What is being replayed is not past.
      if (!wired_) return std::shared_ptr<const RunView>();
      return past_runs_->Find(run_id, attempt);
    };
    backend.compare =
        std::bind_front(&RunComparisons::Compare, comparisons_.get());
  }
  backend.not_ready = [this] { return NotReady(); };
  backend.now = [this] { return clock_.Now(); };
  if (config_.web.annotations) {
    backend.annotate = [this](const RunKey& run, const Annotation& said,
                              const Caller& who) {
      return ready_ ? Say(run, said, who) : Status(Error{NotReady()});
    };
  }
  backend.rule_name = RuleNameOf;
  backend.version = DaemonVersion();
  backend.metrics = config_.metrics;
  backend.audit = audit_->Sink();
  backend.count_limit = [this](std::string_view limit) {
    if (ready_) rpc_->CountLimit(limit);
  };
  return web_.Start(std::move(backend));
}

std::string Daemon::NotReady() const {
  if (stop_) return "shutting down";
  return ready_ ? "" : "history is being replayed";
}

Status Daemon::Listen() {
  StartPipeline();
  QueryBackend backend;
  backend.snapshot = [this] { return UpToDate(); };
  if (history_on()) {
    backend.history_path = config_.history.path;
    backend.wait_until_stored = [this] { WaitUntilStored(); };
    backend.past_run = std::bind_front(&PastRuns::Find, past_runs_.get());
  }
  backend.annotate = std::bind_front(&Daemon::Say<Annotation>, this);
  backend.set_benchmark = std::bind_front(&Daemon::Say<BenchmarkSet>, this);
  backend.audit = audit_->Sink();
  backend.rule_name = RuleNameOf;
  backend.rule_number = [](std::string_view name) -> std::optional<RuleId> {
    const RuleSpec* rule = FindRule(name);
    return rule == nullptr ? std::nullopt : std::optional(rule->id);
  };
  backend.daemon = DaemonVersion();
  backend.page = web_.address();
  backend.clock = &clock_;
  Result<std::unique_ptr<RpcServer>> rpc =
      RpcServer::Start(config_.server, *pipeline_, std::move(backend), clock_);
  if (!rpc.ok()) return Error{rpc.error()};
  rpc_ = std::move(*rpc);
  if (history_on()) {
    bench_feeder_ = std::make_unique<BenchFeeder>(
        BenchFeeder::Options{config_.history.path, config_.benchmarks,
                             [this] { return web_.read_by_everyone(); },
                             started_},
        [this] { return published_.Get(); },
        [this](const RunKey& run, const BenchmarkSet& set) {
          return Say(run, set, {.name = set.by}).ok();
        });
    bench_feeder_->Start();
  }
  upstream_.Start(config_, history_.get(), *pipeline_, *gate_, published_,
                  clock_);
  push_.Start(config_, history_.get(), clock_);
  ready_ = true;
  return OkStatus();
}

void Daemon::StartPipeline() {
  pipeline_thread_ = std::thread([this] {
    while (!stop_.load(std::memory_order_relaxed)) {
      pipeline_->RunOnce(kTurn);
      turns_.fetch_add(1, std::memory_order_relaxed);
    }
  });
}

template <typename Said>
Status Daemon::Say(const RunKey& run, const Said& said, const Caller& who) {
  if (!pipeline_->Post({.run = run, .body = said})) {
    return Error{"nanwatchd is behind, or about to end: say it again"};
  }
  audit_->Add(EntryOfSaid(run, said, who));
  return OkStatus();
}

Status Daemon::Reload(const Result<DaemonConfig>& config, const Caller& who) {
  Status taken = config.ok() ? Take(*config) : Status(Error{config.error()});
  reload_.successful = taken.ok();
  if (taken.ok()) reload_.success_us = ToMicros(clock_.Now());
  audit_->Rotate();
  audit_->Add(EntryOfReload(taken, who));
  return taken;
}

Status Daemon::Take(const DaemonConfig& config) {
  if (Status taken = web_.Reload(config); !taken.ok()) return taken;
  Event event;
  event.body = RulesLoaded{config.rules, config.engine};
  if (!pipeline_->Post(std::move(event))) {
    return Error{"nanwatchd is behind, or about to end: send HUP again"};
  }
  rpc_->SetAccess(config.server.access);
  rpc_->SetQuotas(config.server.quotas);
  pipeline_->SetQuotas(config.server.quotas);
  return OkStatus();
}

// In the reverse order of the start: nobody comes in, what is there is judged
// and committed, then said.
void Daemon::Stop() {
  if (stop_.exchange(true)) return;
  ready_ = false;
  bench_feeder_.reset();
  if (rpc_ != nullptr) rpc_->StopTaking();
  if (pipeline_ != nullptr) pipeline_->Wake();
  if (pipeline_thread_.joinable()) pipeline_thread_.join();
  if (pipeline_ != nullptr && rpc_ != nullptr) {
    pipeline_->Close();
    pipeline_->Drain(kDrain);
    pipeline_->CheckpointAll();
  }
  if (history_on()) {
    history_->Close();
    if (outbox_ != nullptr) outbox_->Release(history_->committed());
    upstream_.Stop();
    push_.Stop();
  }
  if (rpc_ != nullptr) rpc_->Stop(kGoodbye);
  web_.Stop();
  if (notifier_ != nullptr) notifier_->Stop();
}

std::string Daemon::Condition() const {
  std::string condition;
  // By the hour: what is told changes seldom.
  const auto hours =
      std::chrono::ceil<std::chrono::hours>(pipeline_clock_.ahead()).count();
  if (pipeline_clock_.ahead() > kFuture) {
    condition = fmt::format(
        "The wall clock was set back: times are ahead of it by up to {} h; a "
        "restart drops that. ",
        hours);
  }
  if (history_on() && history_->stats().degraded) {
    condition += "History is off: records are judged and not kept. ";
  }
  return condition.empty() ? "Judging." : condition;
}

std::vector<SelfSample> Daemon::SelfSamples() {
  std::vector<SelfSample> samples;
  ReportBuild(NANWATCH_VERSION, started_, &samples);
  ReportProcess(started_, &samples);
  ReportReload(reload_, &samples);
  web_.AppendSamples(&samples);
  audit_->AppendSamples(&samples);
  if (!wired_) return samples;
  ReportReplay(replayed_, ready_, &samples);
  ReportPipeline(*pipeline_, &samples);
  if (history_on()) {
    HistoryStats stats = history_->stats();
    stats.lost_events += replayed_.damaged;
    ReportHistory(stats, &samples);
  }
  ReportSnapshot(*published_.Get(), clock_.Now(), &samples);
  if (ready_) rpc_->AppendSamples(&samples);
  notifier_->AppendSamples(&samples);
  if (ready_) upstream_.AppendSamples(&samples);
  if (ready_) push_.AppendSamples(&samples);
  return samples;
}

std::string Daemon::ingest_address() const {
  return fmt::format("{}", fmt::join(rpc_->addresses(), ","));
}

}  // namespace nanwatch
