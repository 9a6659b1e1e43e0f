#include "metrics/run_families.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace nanwatch {
namespace {

constexpr std::array<Metric, kStepFields> kFieldMetric = {
    Metric::kLoss,
    Metric::kLossScale,
    Metric::kGradNorm,
    Metric::kUpdateNorm,
    Metric::kParamNorm,
    Metric::kLearningRate,
    Metric::kZeroRatio,
    Metric::kUnderflowRatio,
    Metric::kConsumedSamples,
    Metric::kAppliedGradNorm,
};

double Number(uint64_t count) { return static_cast<double>(count); }
double Number(Severity severity) { return static_cast<double>(severity); }
double Seconds(Time t) { return ToSeconds(t.time_since_epoch()); }

// Of the first rank in a cluster; empty: none is in one.
std::string_view NamespaceOf(const RunView& run) {
  for (const auto& block : run.ranks) {
    if (!block) continue;
    for (const RankView& rank : *block) {
      const std::string& name = rank.description.pod.name_space;
      if (!name.empty()) return name;
    }
  }
  return {};
}

void AddDescription(const RunView& run, std::string_view id, FamilySet* set) {
  const std::string attempt = std::to_string(run.key.attempt);
  const std::string_view scaler = run.scaler.name.empty()
                                      ? Name(run.description.scaler.kind)
                                      : std::string_view(run.scaler.name);
  set->Add(Metric::kRunInfo,
           {{"run_id", id},
            {"attempt", attempt},
            {"user", run.description.owner},
            {"job_name", run.description.job},
            {"pod_namespace", NamespaceOf(run)},
            {"framework", run.description.framework},
            {"precision", run.description.precision},
            {"overflow_mode", Name(run.description.overflow_mode)},
            {"scaler", scaler}},
           1);
  set->Add(Metric::kRunWorldSize, {{"run_id", id}}, run.description.world_size);
  set->Add(Metric::kRunOpened, {{"run_id", id}}, Seconds(run.opened));
  set->Add(Metric::kRunJudgedSince, {{"run_id", id}},
           static_cast<double>(run.judged_since));
  set->Add(Metric::kRunStopRequested, {{"run_id", id}},
           run.stop_requested ? 1 : 0);
  set->Add(Metric::kRunRanks, {{"run_id", id}, {"state", "open"}},
           Number(run.ranks_open));
  set->Add(Metric::kRunRanks, {{"run_id", id}, {"state", "lost"}},
           Number(run.ranks_lost));
}

// What alerts go by, of each family: the worst that fires, of these the one
// that began first; null: none. People who muted an incident have seen it.
std::array<const Incident*, kFamilies> Unmuted(const RunView& run) {
  std::array<const Incident*, kFamilies> worst{};
  for (const Incident& incident : run.incidents) {
    if (incident.muted || incident.state != AlertState::kFiring) continue;
    const Incident*& of = worst[static_cast<int>(incident.alert_family)];
    const bool worse = of == nullptr || incident.severity > of->severity ||
                       (incident.severity == of->severity &&
                        incident.opened_step < of->opened_step);
    if (worse) of = &incident;
  }
  return worst;
}

// At most 4 series a family, and only while it fires. Rank is a value and op a
// label, so that no series has both.
void AddOrigin(std::string_view id, std::string_view condition,
               const Incident& incident, FamilySet* set) {
  const std::initializer_list<LabelRef> labels = {{"run_id", id},
                                                  {"condition", condition}};
  set->Add(Metric::kConditionOriginStep, labels,
           static_cast<double>(incident.opened_step));
  const Subject& subject = incident.subject;
  if (subject.rank >= 0) {
    set->Add(Metric::kConditionOriginRank, labels, subject.rank);
  }
  if (incident.pod.known()) {
    set->Add(Metric::kConditionPod,
             {{"run_id", id},
              {"condition", condition},
              {"pod_namespace", incident.pod.name_space},
              {"pod_name", incident.pod.name},
              {"node_name", incident.pod.node}},
             1);
  }
  if (subject.op.empty()) return;
  set->Add(Metric::kConditionOrigin,
           {{"run_id", id}, {"condition", condition}, {"op", subject.op}}, 1);
}

void AddConditions(const RunView& run, std::string_view id, FamilySet* set) {
  const std::array<const Incident*, kFamilies> unmuted = Unmuted(run);
  set->Add(Metric::kRunSeverity, {{"run_id", id}}, Number(run.severity));
  for (int f = 0; f < kFamilies; ++f) {
    const std::string_view condition = Name(static_cast<Family>(f));
    set->Add(Metric::kConditionSeverity,
             {{"run_id", id}, {"condition", condition}}, Number(run.family[f]));
    set->Add(
        Metric::kConditionUnmuted, {{"run_id", id}, {"condition", condition}},
        Number(unmuted[f] == nullptr ? Severity::kNone : unmuted[f]->severity));
    if (unmuted[f] != nullptr) AddOrigin(id, condition, *unmuted[f], set);
    set->Add(Metric::kConditionDetections,
             {{"run_id", id}, {"condition", condition}},
             Number(run.detections[f]));
  }
  uint64_t pending = 0;
  uint64_t firing = 0;
  for (const Incident& incident : run.incidents) {
    pending += incident.state == AlertState::kPending;
    firing += incident.state == AlertState::kFiring;
  }
  set->Add(Metric::kRunIncidents, {{"run_id", id}, {"state", "pending"}},
           Number(pending));
  set->Add(Metric::kRunIncidents, {{"run_id", id}, {"state", "firing"}},
           Number(firing));
}

void AddTotals(const RunView& run, std::string_view id, FamilySet* set) {
  const StepTotals& totals = run.totals;
  set->Add(Metric::kRunSteps, {{"run_id", id}}, Number(totals.steps));
  // What was not collected has no series: 0 would say that nothing happened.
  if (Collected(totals.steps, totals.overflow_unknown)) {
    set->Add(Metric::kRunOverflows, {{"run_id", id}}, Number(totals.overflows));
    if (run.last_overflow_step) {
      set->AddExemplar(Metric::kRunOverflows, *run.last_overflow_step,
                       run.last_overflow_rank);
    }
  }
  if (Collected(totals.steps, totals.fate_unknown)) {
    set->Add(Metric::kRunSkipped, {{"run_id", id}}, Number(totals.skipped));
  }
  set->Add(Metric::kRunUpdates, {{"run_id", id}}, Number(run.updates));
  if (Collected(run.updates, run.fate_unknown)) {
    set->Add(Metric::kRunApplied, {{"run_id", id}}, Number(run.applied));
  }
  set->Add(Metric::kRunOpStatuses, {{"run_id", id}},
           Number(totals.op_statuses));
  set->Add(Metric::kRunDropped, {{"run_id", id}, {"kind", "step"}},
           Number(totals.dropped_steps));
  set->Add(Metric::kRunDropped, {{"run_id", id}, {"kind", "op"}},
           Number(totals.dropped_ops));
  if (totals.steps == 0) return;
  set->Add(Metric::kRunLastStep, {{"run_id", id}},
           static_cast<double>(run.last_step));
  set->Add(Metric::kRunLastRecord, {{"run_id", id}}, Seconds(run.last_record));
}

// Prometheus would plot NaN as a hole and infinity as nothing: the last finite
// value stays, and two families say that it is not the newest.
void AddValues(const RunView& run, std::string_view id, FamilySet* set) {
  for (int f = 0; f < kStepFields; ++f) {
    const std::optional<double>& last = run.latest.last[f];
    if (!last) continue;  // never collected: no series
    const std::optional<double>& finite = run.latest.last_finite[f];
    if (finite) set->Add(kFieldMetric[f], {{"run_id", id}}, *finite);
    const std::string_view field = Name(static_cast<StepField>(f));
    set->Add(Metric::kValueNonfinite, {{"run_id", id}, {"field", field}},
             std::isfinite(*last) ? 0 : 1);
    set->Add(Metric::kNonfiniteValues, {{"run_id", id}, {"field", field}},
             Number(run.latest.nonfinite[f]));
  }
}

void AddScaler(const RunView& run, std::string_view id, FamilySet* set) {
  const ScalerView& scaler = run.scaler;
  if (scaler.floor) {
    set->Add(Metric::kScalerFloor, {{"run_id", id}}, *scaler.floor);
  }
  if (scaler.updates_to_floor) {
    set->Add(Metric::kScalerUpdatesToFloor, {{"run_id", id}},
             static_cast<double>(*scaler.updates_to_floor));
  }
  if (!scaler.name.empty()) {
    set->Add(Metric::kScalerImpossible, {{"run_id", id}},
             Number(scaler.impossible_transitions));
  }
  if (!scaler.layers) return;
  const LayerScalesView& layers = *scaler.layers;
  // As other values: one that is not finite is none to plot.
  if (std::isfinite(layers.lowest)) {
    set->Add(Metric::kLayerScaleLowest, {{"run_id", id}}, layers.lowest);
  }
  if (std::isfinite(layers.highest)) {
    set->Add(Metric::kLayerScaleHighest, {{"run_id", id}}, layers.highest);
  }
  if (run.layer_ranges == nullptr) return;
  const auto& ranges = run.layer_ranges->layers;
  set->Add(Metric::kLayersOutside, {{"run_id", id}},
           static_cast<double>(std::count_if(
               ranges.begin(), ranges.end(),
               [](const LayerRangeView& layer) { return layer.outside; })));
}

void AddBenchmark(const BenchmarkView& benchmark, std::string_view id,
                  FamilySet* set) {
  set->Add(Metric::kBenchmarkPairs, {{"run_id", id}}, Number(benchmark.pairs));
  if (!benchmark.loss || !benchmark.benchmark_loss) return;
  const double of = *benchmark.benchmark_loss;
  set->Add(Metric::kBenchmarkLoss, {{"run_id", id}}, of);
  // Of a loss that is 0 or less nothing is a share.
  if (of <= 0) return;
  set->Add(Metric::kBenchmarkDistance, {{"run_id", id}},
           *benchmark.loss / of - 1);
}

}  // namespace

void AddRun(const RunView& run, FamilySet* set) {
  const std::string_view id = run.key.run_id;
  AddDescription(run, id, set);
  AddConditions(run, id, set);
  AddTotals(run, id, set);
  AddValues(run, id, set);
  AddScaler(run, id, set);
  if (run.benchmark) AddBenchmark(*run.benchmark, id, set);
}

}  // namespace nanwatch
