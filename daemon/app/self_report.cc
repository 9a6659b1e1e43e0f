#include "app/self_report.h"

#include <spdlog/fmt/fmt.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/resident.h"
#include "model/metric_names.h"

namespace nanwatch {
namespace {

void Add(Metric metric, double value, std::vector<SelfSample>* samples) {
  samples->push_back({Name(metric), {}, value});
}

void Add(Metric metric, const std::atomic<uint64_t>& value,
         std::vector<SelfSample>* samples) {
  Add(metric, static_cast<double>(value.load(std::memory_order_relaxed)),
      samples);
}

double Seconds(Time time) { return 1e-6 * static_cast<double>(ToMicros(time)); }

double OpenDescriptors() {
  std::error_code error;
  std::filesystem::directory_iterator at("/proc/self/fd", error);
  if (error) return 0;
  return static_cast<double>(
      std::distance(at, std::filesystem::directory_iterator()));
}

}  // namespace

void LogReplay(const ReplayState& replay) {
  LogInfo("history replayed",
          fmt::format("events={} seconds={:.3f}", replay.events,
                      ToSeconds(replay.duration)));
  if (replay.damaged == 0) return;
  LogError(
      "history: damaged events were passed over, runs are judged without them",
      fmt::format("events={}", replay.damaged));
}

void ReportReload(const ReloadState& reload, std::vector<SelfSample>* samples) {
  Add(Metric::kConfigReloadOk, reload.successful.load() ? 1 : 0, samples);
  Add(Metric::kConfigReloadTime,
      1e-6 * static_cast<double>(reload.success_us.load()), samples);
}

void ReportReplay(const ReplayState& replay, bool ready,
                  std::vector<SelfSample>* samples) {
  Add(Metric::kReady, ready ? 1 : 0, samples);
  Add(Metric::kReplayDuration, ToSeconds(replay.duration), samples);
  Add(Metric::kReplayEvents, static_cast<double>(replay.events), samples);
}

void ReportPipeline(Pipeline& pipeline, std::vector<SelfSample>* samples) {
  const PipelineStats& stats = pipeline.stats();
  Add(Metric::kIngestSteps, stats.steps, samples);
  Add(Metric::kIngestOpStatuses, stats.op_statuses, samples);
  Add(Metric::kIngestDuplicates, stats.duplicates, samples);
  Add(Metric::kEngineRuns, stats.runs, samples);
  Add(Metric::kEngineSessions, stats.sessions, samples);
  Add(Metric::kEngineEvents, stats.events, samples);
  Add(Metric::kEngineLateOps, stats.late_op_statuses, samples);
  Add(Metric::kClockAhead, ToSeconds(pipeline.clock().ahead()), samples);
  Add(Metric::kClockJumps, static_cast<double>(pipeline.clock().jumps()),
      samples);
  Add(Metric::kMailboxLength, static_cast<double>(pipeline.mailbox_size()),
      samples);
  Add(Metric::kMailboxCapacity,
      static_cast<double>(pipeline.mailbox_capacity()), samples);
  const std::pair<const char*, const std::atomic<uint64_t>*> limits[] = {
      {"pending_ops", &stats.pending_ops_not_kept},
      {"watched_ops", &stats.watched_ops_not_kept},
      {"findings", &stats.findings_not_kept},
      {"incidents", &stats.incidents_not_opened},
      {"run_ids", &stats.run_ids_forgotten}};
  for (const auto& [limit, hits] : limits) {
    samples->push_back({Name(Metric::kLimitHits),
                        {{"limit", limit}},
                        static_cast<double>(hits->load())});
  }
}

void ReportHistory(const HistoryStats& stats,
                   std::vector<SelfSample>* samples) {
  const auto add = [&](Metric metric, uint64_t value) {
    Add(metric, static_cast<double>(value), samples);
  };
  add(Metric::kHistoryEvents, stats.events);
  add(Metric::kHistoryBytes, stats.bytes);
  add(Metric::kHistoryCommits, stats.commits);
  add(Metric::kHistoryFailures, stats.failures);
  add(Metric::kHistoryQueue, stats.queue_bytes);
  add(Metric::kHistoryFile, stats.file_bytes);
  add(Metric::kHistoryRemoved, stats.removed_events);
  add(Metric::kHistoryLost, stats.lost_events);
  for (int i = 0; i < kUnusables; ++i) {
    samples->push_back({Name(Metric::kHistorySetAside),
                        {{"reason", std::string(Name(Unusable{i}))}},
                        static_cast<double>(stats.set_aside[i])});
  }
  add(Metric::kHistoryDegraded, stats.degraded ? 1 : 0);
}

void ReportSnapshot(const Snapshot& snapshot, Time now,
                    std::vector<SelfSample>* samples) {
  double ranks = 0;
  Duration skew{};
  snapshot.runs.ForEach([&](const RunView& run) {
    for (const auto& block : run.ranks) {
      ranks += static_cast<double>(block->size());
      for (const RankView& rank : *block) {
        if (rank.state != LifeState::kOpen) continue;
        skew = std::max(skew, std::chrono::abs(rank.clock_skew));
      }
    }
  });
  Add(Metric::kEngineRanks, ranks, samples);
  Add(Metric::kClockSkewMax, ToSeconds(skew), samples);
  Add(Metric::kSnapshotEvent, static_cast<double>(snapshot.event_id), samples);
  if (snapshot.time != Time{}) {
    Add(Metric::kSnapshotAge, std::max(0.0, ToSeconds(now - snapshot.time)),
        samples);
  }
}

void ReportBuild(std::string_view version, Time started,
                 std::vector<SelfSample>* samples) {
  samples->push_back(
      {Name(Metric::kBuildInfo),
       {{"version", std::string(version)}, {"compiler", "gcc " __VERSION__}},
       1});
  Add(Metric::kStartTime, Seconds(started), samples);
}

void ReportProcess(Time started, std::vector<SelfSample>* samples) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) +
           1e-6 * static_cast<double>(t.tv_usec);
  };
  Add(Metric::kProcessCpu, seconds(usage.ru_utime) + seconds(usage.ru_stime),
      samples);
  Add(Metric::kProcessMemory, static_cast<double>(ResidentBytes()), samples);
  Add(Metric::kProcessOpenFds, OpenDescriptors(), samples);
  Add(Metric::kProcessStartTime, Seconds(started), samples);
}

}  // namespace nanwatch
