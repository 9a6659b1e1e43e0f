// Every metric once: its name, kind, help, and whether it is about a run or
// about the daemon itself (internal). Everything that writes or reads a metric
// takes the name from here; tests/lint holds dashboards and rules to this list.
//
// Conventions: base units, plural unit as the suffix, _total on counters only,
// _info for descriptions. Absent means the series is missing, never 0.

#ifndef NANWATCH_MODEL_METRIC_NAMES_H_
#define NANWATCH_MODEL_METRIC_NAMES_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "model/metric.h"

namespace nanwatch {

enum class MetricKind : uint8_t {
  kGauge,
  kCounter,
  kInfo,  // always 1; the labels are the message
};

inline constexpr int kMetrics = 134;

// Returns the base unit that ends a name ("seconds", "bytes", "ratio"), or "".
constexpr std::string_view UnitOf(std::string_view metric) {
  if (metric.ends_with("_total")) metric.remove_suffix(6);
  for (const std::string_view unit : {"_seconds", "_bytes", "_ratio"}) {
    if (metric.ends_with(unit)) return unit.substr(1);
  }
  return "";
}

struct MetricSpec {
  Metric id;
  std::string_view name;
  MetricKind kind;
  bool internal;  // about the daemon, not about a run
  std::string_view help;
};

// In the order of Metric, and of the exposition.
inline constexpr std::array<MetricSpec, kMetrics> kMetricTable = {{
    {Metric::kRunInfo, "nanwatch_run_info", MetricKind::kInfo, false,
     "What the run says of itself; join it on run_id."},
    {Metric::kRunSeverity, "nanwatch_run_severity", MetricKind::kGauge, false,
     "Worst firing incident of the run: 0 none, 1 info, 2 warning, 3 "
     "critical."},
    {Metric::kConditionSeverity, "nanwatch_condition_severity",
     MetricKind::kGauge, false,
     "Worst firing incident by condition family: 0 none, 1 info, 2 warning, 3 "
     "critical."},
    {Metric::kConditionUnmuted, "nanwatch_condition_unmuted_severity",
     MetricKind::kGauge, false,
     "Worst firing incident that nobody muted, by condition family, as "
     "nanwatch_condition_severity."},
    {Metric::kConditionOriginStep, "nanwatch_condition_origin_step",
     MetricKind::kGauge, false,
     "Step at which the worst firing incident that nobody muted began, by "
     "condition family; missing while none fires."},
    {Metric::kConditionOriginRank, "nanwatch_condition_origin_rank",
     MetricKind::kGauge, false,
     "Rank on which that incident began; missing where it is of no single "
     "one."},
    {Metric::kConditionOrigin, "nanwatch_condition_origin_info",
     MetricKind::kInfo, false,
     "Op in which that incident began; missing where it is of none."},
    {Metric::kConditionPod, "nanwatch_condition_origin_pod_info",
     MetricKind::kInfo, false,
     "Pod, its namespace and node, of the rank on which that incident began; "
     "missing outside of a cluster."},
    {Metric::kConditionDetections, "nanwatch_condition_detections_total",
     MetricKind::kCounter, false, "Incidents that fired, by condition family."},
    {Metric::kRunIncidents, "nanwatch_run_incidents", MetricKind::kGauge, false,
     "Incidents of the run by state."},
    {Metric::kRunSteps, "nanwatch_steps_total", MetricKind::kCounter, false,
     "Step records of all ranks."},
    {Metric::kRunOverflows, "nanwatch_overflow_steps_total",
     MetricKind::kCounter, false,
     "Step records with an overflow (found-inf or device float status); "
     "missing "
     "where neither is collected."},
    {Metric::kRunSkipped, "nanwatch_skipped_steps_total", MetricKind::kCounter,
     false, "Step records whose update was not applied."},
    {Metric::kRunUpdates, "nanwatch_optimizer_attempts_total",
     MetricKind::kCounter, false,
     "Updates, applied or skipped, of the lowest rank."},
    {Metric::kRunApplied, "nanwatch_optimizer_updates_total",
     MetricKind::kCounter, false,
     "Updates that were applied; missing where nothing says it of any."},
    {Metric::kRunOpStatuses, "nanwatch_op_statuses_total", MetricKind::kCounter,
     false, "Op statuses of all ranks."},
    {Metric::kRunDropped, "nanwatch_dropped_records_total",
     MetricKind::kCounter, false,
     "Records that a client could not keep and that nobody judged, by kind."},
    {Metric::kRunLastStep, "nanwatch_last_step", MetricKind::kGauge, false,
     "Largest step of any rank."},
    {Metric::kRunLastRecord, "nanwatch_last_record_timestamp_seconds",
     MetricKind::kGauge, false, "When the newest record of the run was made."},
    {Metric::kRunOpened, "nanwatch_run_opened_timestamp_seconds",
     MetricKind::kGauge, false, "When the first rank of the attempt opened."},
    {Metric::kRunRanks, "nanwatch_ranks", MetricKind::kGauge, false,
     "Ranks of the run by state."},
    {Metric::kRunWorldSize, "nanwatch_world_size", MetricKind::kGauge, false,
     "Ranks that the run says it has."},
    {Metric::kRunJudgedSince, "nanwatch_judged_since_step", MetricKind::kGauge,
     false,
     "First step that was judged; above the first one when history was "
     "incomplete."},
    {Metric::kRunStopRequested, "nanwatch_stop_requested", MetricKind::kGauge,
     false, "1 when somebody asked the run to stop."},
    {Metric::kLoss, "nanwatch_loss", MetricKind::kGauge, false,
     "Newest finite loss."},
    {Metric::kLossScale, "nanwatch_loss_scale", MetricKind::kGauge, false,
     "Newest finite loss scale."},
    {Metric::kGradNorm, "nanwatch_grad_norm", MetricKind::kGauge, false,
     "Newest finite gradient norm, unscaled, before clipping."},
    {Metric::kUpdateNorm, "nanwatch_update_norm", MetricKind::kGauge, false,
     "Newest finite norm of the update."},
    {Metric::kParamNorm, "nanwatch_param_norm", MetricKind::kGauge, false,
     "Newest finite norm of the parameters."},
    {Metric::kLearningRate, "nanwatch_learning_rate", MetricKind::kGauge, false,
     "Newest finite learning rate."},
    {Metric::kZeroRatio, "nanwatch_grad_zero_ratio", MetricKind::kGauge, false,
     "Newest fraction of gradient elements that are zero."},
    {Metric::kUnderflowRatio, "nanwatch_grad_underflow_ratio",
     MetricKind::kGauge, false,
     "Newest fraction of gradient elements that underflowed."},
    {Metric::kConsumedSamples, "nanwatch_consumed_samples", MetricKind::kGauge,
     false, "Newest count of consumed samples."},
    {Metric::kAppliedGradNorm, "nanwatch_applied_grad_norm", MetricKind::kGauge,
     false,
     "Newest finite norm of the gradients that the optimizer got: unscaled, "
     "after clipping."},
    {Metric::kValueNonfinite, "nanwatch_value_nonfinite", MetricKind::kGauge,
     false, "1 when the newest value of the field is NaN or infinite."},
    {Metric::kNonfiniteValues, "nanwatch_nonfinite_values_total",
     MetricKind::kCounter, false,
     "Values of the field that were NaN or infinite."},
    {Metric::kScalerFloor, "nanwatch_scaler_floor", MetricKind::kGauge, false,
     "Smallest loss scale that the scaler reaches."},
    {Metric::kScalerUpdatesToFloor, "nanwatch_scaler_attempts_to_floor",
     MetricKind::kGauge, false,
     "Updates until the floor at this rate; missing while the scale "
     "does not fall."},
    {Metric::kScalerImpossible, "nanwatch_scaler_impossible_transitions_total",
     MetricKind::kCounter, false,
     "Changes of the loss scale that the scaler cannot make."},
    {Metric::kLayerScaleLowest, "nanwatch_layer_scale_lowest",
     MetricKind::kGauge, false,
     "Lowest loss scale of a layer, where layers have scales of their own."},
    {Metric::kLayerScaleHighest, "nanwatch_layer_scale_highest",
     MetricKind::kGauge, false,
     "Highest loss scale of a layer, where layers have scales of their own."},
    {Metric::kLayersOutside, "nanwatch_layers_outside", MetricKind::kGauge,
     false, "Layers whose own loss scale does not suit their gradients."},
    {Metric::kBenchmarkLoss, "nanwatch_benchmark_loss", MetricKind::kGauge,
     false,
     "Loss of the run's benchmark, mean of about ten steps that both have."},
    {Metric::kBenchmarkDistance, "nanwatch_benchmark_loss_difference_ratio",
     MetricKind::kGauge, false,
     "How far the run's loss lies above its benchmark's at these steps, as a "
     "share of it; below: negative."},
    {Metric::kBenchmarkPairs, "nanwatch_benchmark_steps_total",
     MetricKind::kCounter, false,
     "Steps at which the run's loss was held against its benchmark's."},
    {Metric::kRankInfo, "nanwatch_rank_info", MetricKind::kInfo, false,
     "Where a rank runs; join it on run_id and rank."},
    {Metric::kRankSeverity, "nanwatch_rank_severity", MetricKind::kGauge, false,
     "Worst finding of the rank: 0 none, 1 info, 2 warning, 3 critical."},
    {Metric::kRankLastStep, "nanwatch_rank_last_step", MetricKind::kGauge,
     false, "Newest step of the rank."},
    {Metric::kRankLoss, "nanwatch_rank_loss", MetricKind::kGauge, false,
     "Newest finite loss of the rank."},
    {Metric::kRankLossScale, "nanwatch_rank_loss_scale", MetricKind::kGauge,
     false, "Newest finite loss scale of the rank."},
    {Metric::kRankGradNorm, "nanwatch_rank_grad_norm", MetricKind::kGauge,
     false, "Newest finite gradient norm of the rank."},
    {Metric::kRankOverflows, "nanwatch_rank_overflow_steps_total",
     MetricKind::kCounter, false, "Step records of the rank with an overflow."},
    {Metric::kRankSkipped, "nanwatch_rank_skipped_steps_total",
     MetricKind::kCounter, false,
     "Step records of the rank whose update was not applied."},
    {Metric::kRankLastRecord, "nanwatch_rank_last_record_timestamp_seconds",
     MetricKind::kGauge, false, "When the newest record of the rank was made."},
    {Metric::kRankClockSkew, "nanwatch_rank_clock_skew_seconds",
     MetricKind::kGauge, false,
     "Clock of the rank minus the daemon's; reported, never decided upon."},
    {Metric::kRankLastStepSpread, "nanwatch_rank_last_step_spread",
     MetricKind::kGauge, false,
     "Newest step over all ranks: min, median, max."},
    {Metric::kRankLossSpread, "nanwatch_rank_loss_spread", MetricKind::kGauge,
     false, "Newest finite loss over all ranks: min, median, max."},
    {Metric::kRankLossScaleSpread, "nanwatch_rank_loss_scale_spread",
     MetricKind::kGauge, false,
     "Newest finite loss scale over all ranks: min, median, max."},
    {Metric::kRankGradNormSpread, "nanwatch_rank_grad_norm_spread",
     MetricKind::kGauge, false,
     "Newest finite gradient norm over all ranks: min, median, max."},
    {Metric::kRankOverflowsSpread, "nanwatch_rank_overflow_steps_spread",
     MetricKind::kGauge, false,
     "Step records with an overflow over all ranks: min, median, max."},
    {Metric::kOpBadStatuses, "nanwatch_op_bad_statuses_total",
     MetricKind::kCounter, false,
     "Statuses of the op with a bad element or a device flag."},
    {Metric::kOpBadElements, "nanwatch_op_bad_elements", MetricKind::kGauge,
     false, "Bad elements in the newest bad status of the op."},
    {Metric::kOpLastBadStep, "nanwatch_op_last_bad_step", MetricKind::kGauge,
     false, "Step of the newest bad status of the op."},
    {Metric::kOpOther, "nanwatch_op_other_bad_statuses", MetricKind::kGauge,
     false,
     "Bad statuses of the listed ops beyond those named by "
     "nanwatch_op_bad_statuses_total; falls when one of them gets a name."},
    {Metric::kBuildInfo, "nanwatch_build_info", MetricKind::kInfo, true,
     "Version of the daemon and how it was built."},
    {Metric::kStartTime, "nanwatch_start_timestamp_seconds", MetricKind::kGauge,
     true, "When the daemon started."},
    {Metric::kReady, "nanwatch_ready", MetricKind::kGauge, true,
     "1 when the daemon judges live records, 0 while it replays its history."},
    {Metric::kReplayDuration, "nanwatch_replay_duration_seconds",
     MetricKind::kGauge, true,
     "How long the replay of the history took at start."},
    {Metric::kReplayEvents, "nanwatch_replay_events", MetricKind::kGauge, true,
     "Events that were replayed at start."},
    {Metric::kConfigReloadOk, "nanwatch_config_last_reload_successful",
     MetricKind::kGauge, true,
     "1 when the last reload of the configuration was accepted."},
    {Metric::kConfigReloadTime,
     "nanwatch_config_last_reload_success_timestamp_seconds",
     MetricKind::kGauge, true, "When a configuration was accepted last."},
    {Metric::kSnapshotAge, "nanwatch_snapshot_age_seconds", MetricKind::kGauge,
     true, "Age of the snapshot that this scrape shows."},
    {Metric::kSnapshotEvent, "nanwatch_snapshot_event_id", MetricKind::kGauge,
     true, "Newest event that this scrape shows."},
    {Metric::kClockSkewMax, "nanwatch_clock_skew_max_seconds",
     MetricKind::kGauge, true, "Largest absolute clock skew of any open rank."},
    {Metric::kClockAhead, "nanwatch_clock_ahead_seconds", MetricKind::kGauge,
     true,
     "How far the time that runs are judged by is ahead of the wall clock, "
     "because that was set back."},
    {Metric::kClockJumps, "nanwatch_clock_jumps_total", MetricKind::kCounter,
     true, "How often the wall clock was set, forward or back."},
    {Metric::kProcessCpu, "process_cpu_seconds_total", MetricKind::kCounter,
     true, "User and system CPU time spent."},
    {Metric::kProcessMemory, "process_resident_memory_bytes",
     MetricKind::kGauge, true, "Resident memory."},
    {Metric::kProcessOpenFds, "process_open_fds", MetricKind::kGauge, true,
     "Open file descriptors."},
    {Metric::kProcessStartTime, "process_start_time_seconds",
     MetricKind::kGauge, true, "When the process started."},
    {Metric::kStreams, "nanwatch_ingest_streams", MetricKind::kGauge, true,
     "Open ingest streams."},
    {Metric::kStreamsTotal, "nanwatch_ingest_streams_opened_total",
     MetricKind::kCounter, true, "Ingest streams ever opened."},
    {Metric::kIngestMessages, "nanwatch_ingest_messages_total",
     MetricKind::kCounter, true, "Messages received."},
    {Metric::kIngestBytes, "nanwatch_ingest_bytes_total", MetricKind::kCounter,
     true, "Bytes of the messages received."},
    {Metric::kIngestSteps, "nanwatch_ingest_steps_total", MetricKind::kCounter,
     true, "Step records judged, over all runs ever."},
    {Metric::kIngestOpStatuses, "nanwatch_ingest_op_statuses_total",
     MetricKind::kCounter, true, "Op statuses judged, over all runs ever."},
    {Metric::kIngestRefusals, "nanwatch_ingest_refusals_total",
     MetricKind::kCounter, true, "Messages refused, by code."},
    {Metric::kIngestDuplicates, "nanwatch_ingest_duplicates_total",
     MetricKind::kCounter, true,
     "Messages that came again and were acknowledged again."},
    {Metric::kIngestQuota, "nanwatch_ingest_quota_pauses_total",
     MetricKind::kCounter, true,
     "Times that a stream was not read for a while, its user being over his "
     "bytes a second."},
    {Metric::kLimitHits, "nanwatch_limit_hits_total", MetricKind::kCounter,
     true, "How often a bound was hit, by its name."},
    {Metric::kMailboxLength, "nanwatch_mailbox_length", MetricKind::kGauge,
     true, "Parsed messages that wait for the pipeline."},
    {Metric::kMailboxCapacity, "nanwatch_mailbox_capacity", MetricKind::kGauge,
     true, "Parsed messages that may wait for the pipeline."},
    {Metric::kEngineRuns, "nanwatch_engine_runs", MetricKind::kGauge, true,
     "Run attempts held."},
    {Metric::kEngineRanks, "nanwatch_engine_ranks", MetricKind::kGauge, true,
     "Ranks held."},
    {Metric::kEngineSessions, "nanwatch_engine_sessions", MetricKind::kGauge,
     true, "Open sessions."},
    {Metric::kEngineEvents, "nanwatch_engine_events_total",
     MetricKind::kCounter, true, "Events applied."},
    {Metric::kEngineLateOps, "nanwatch_engine_late_op_statuses_total",
     MetricKind::kCounter, true,
     "Op statuses of steps that were judged before."},
    {Metric::kHistoryEvents, "nanwatch_history_events_total",
     MetricKind::kCounter, true, "Events committed."},
    {Metric::kHistoryBytes, "nanwatch_history_written_bytes_total",
     MetricKind::kCounter, true, "Compressed bytes committed."},
    {Metric::kHistoryCommits, "nanwatch_history_commits_total",
     MetricKind::kCounter, true, "Transactions committed."},
    {Metric::kHistoryFailures, "nanwatch_history_failures_total",
     MetricKind::kCounter, true, "Transactions that failed."},
    {Metric::kHistoryQueue, "nanwatch_history_queue_bytes", MetricKind::kGauge,
     true, "Bytes that wait for their commit."},
    {Metric::kHistoryFile, "nanwatch_history_file_bytes", MetricKind::kGauge,
     true, "Size of the history file."},
    {Metric::kHistoryRemoved, "nanwatch_history_removed_events_total",
     MetricKind::kCounter, true, "Events removed by retention."},
    {Metric::kHistoryLost, "nanwatch_history_lost_events_total",
     MetricKind::kCounter, true,
     "Events judged and not kept, because the history could not be written or "
     "was damaged."},
    {Metric::kHistorySetAside, "nanwatch_history_set_aside_total",
     MetricKind::kCounter, true,
     "History files that could not be used and were set aside, by reason."},
    {Metric::kHistoryDegraded, "nanwatch_history_degraded", MetricKind::kGauge,
     true,
     "1 when the history cannot be written: records are judged, but not kept."},
    {Metric::kNotifySent, "nanwatch_notify_sends_total", MetricKind::kCounter,
     true, "Deliveries tried, by receiver kind."},
    {Metric::kNotifyFailures, "nanwatch_notify_failures_total",
     MetricKind::kCounter, true, "Deliveries that failed, by receiver kind."},
    {Metric::kNotifyDropped, "nanwatch_notify_dropped_total",
     MetricKind::kCounter, true, "Notices given up, by receiver kind."},
    {Metric::kNotifyQueue, "nanwatch_notify_queue_length", MetricKind::kGauge,
     true, "Notices that wait, by receiver kind."},
    {Metric::kRelayConnected, "nanwatch_relay_connected", MetricKind::kGauge,
     true, "1 while the upstream of a relay is there."},
    {Metric::kRelayLagEvents, "nanwatch_relay_lag_events", MetricKind::kGauge,
     true, "Events of the history that the upstream may not hold yet."},
    {Metric::kRelayLagSeconds, "nanwatch_relay_lag_seconds", MetricKind::kGauge,
     true, "Age of the oldest message that the upstream does not hold yet."},
    {Metric::kRelayMessages, "nanwatch_relay_messages_total",
     MetricKind::kCounter, true, "Messages sent to the upstream."},
    {Metric::kRelayBytes, "nanwatch_relay_bytes_total", MetricKind::kCounter,
     true, "Bytes of those messages."},
    {Metric::kRelayRefused, "nanwatch_relay_refused_messages_total",
     MetricKind::kCounter, true,
     "Messages that the upstream refused for good."},
    {Metric::kRelayMissing, "nanwatch_relay_missing_messages_total",
     MetricKind::kCounter, true,
     "Messages that the history lacked when they were to be sent."},
    {Metric::kRelayReconnects, "nanwatch_relay_reconnects_total",
     MetricKind::kCounter, true, "Times that the upstream went away."},
    {Metric::kPushSamples, "nanwatch_push_samples_total", MetricKind::kCounter,
     true, "Samples that a store took, by how they were sent."},
    {Metric::kPushDropped, "nanwatch_push_dropped_samples_total",
     MetricKind::kCounter, true, "Samples that were given up, and why."},
    {Metric::kPushFailures, "nanwatch_push_failures_total",
     MetricKind::kCounter, true, "Requests that a store did not take."},
    {Metric::kPushLagSeconds, "nanwatch_push_lag_seconds", MetricKind::kGauge,
     true, "Age of the oldest sample that a store does not have yet."},
    {Metric::kPushLagEvents, "nanwatch_push_lag_events", MetricKind::kGauge,
     true, "Events of the history that a store was not sent yet."},
    {Metric::kHttpRequests, "nanwatch_http_requests_total",
     MetricKind::kCounter, true, "HTTP requests by handler and status code."},
    {Metric::kWebInsecure, "nanwatch_web_insecure", MetricKind::kGauge, true,
     "1 while HTTP listens beyond the loopback without TLS, or asks nobody who "
     "he is (web.insecure)."},
    {Metric::kAuditLines, "nanwatch_audit_lines_total", MetricKind::kCounter,
     true, "Lines of the audit that were written."},
    {Metric::kAuditLost, "nanwatch_audit_lost_total", MetricKind::kCounter,
     true,
     "Lines of the audit that were lost: its disk was full, or too slow."},
    {Metric::kAuditLeftOut, "nanwatch_audit_left_out_total",
     MetricKind::kCounter, true,
     "Refusals that were not written down one by one, since there were too "
     "many."},
    {Metric::kSeries, "nanwatch_series", MetricKind::kGauge, true,
     "Series in this exposition."},
    {Metric::kSeriesLimit, "nanwatch_series_limit", MetricKind::kGauge, true,
     "Series that an exposition may have."},
    {Metric::kSeriesLeftOut, "nanwatch_series_left_out", MetricKind::kGauge,
     true,
     "Series that this exposition leaves out because of the limit; whole runs, "
     "healthy ones first."},
    {Metric::kCertificateBegin,
     "nanwatch_tls_certificate_not_before_timestamp_seconds",
     MetricKind::kGauge, true,
     "From when on the certificate that a port shows is valid; missing where "
     "the port has none."},
    {Metric::kCertificateEnd,
     "nanwatch_tls_certificate_not_after_timestamp_seconds", MetricKind::kGauge,
     true,
     "When the certificate that a port shows, or one of its chain, expires; "
     "missing where the port has none."},
}};

constexpr bool MetricTableIsInOrder() {
  for (int i = 0; i < kMetrics; ++i) {
    if (static_cast<int>(kMetricTable[i].id) != i) return false;
  }
  return true;
}
static_assert(MetricTableIsInOrder(), "a row for each Metric, in its order");

constexpr const MetricSpec& Spec(Metric metric) {
  return kMetricTable[static_cast<int>(metric)];
}
constexpr std::string_view Name(Metric metric) { return Spec(metric).name; }

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_METRIC_NAMES_H_
