#include "web/json_run.h"

#include <algorithm>
#include <string>

#include "model/health.h"

namespace nanwatch {
namespace {

// A field that was never collected has no key.
Json ValuesJson(const LatestValues& latest) {
  Json json = Json::object();
  for (int f = 0; f < kStepFields; ++f) {
    if (!latest.last[f]) continue;
    Json value = {{"last", JsonNumber(*latest.last[f])},
                  {"last_finite", JsonOrNull(latest.last_finite[f])},
                  {"nonfinite", latest.nonfinite[f]}};
    json[std::string(Name(static_cast<StepField>(f)))] = std::move(value);
  }
  return json;
}

Json TotalsJson(const StepTotals& totals) {
  Json json = {{"steps", totals.steps},
               {"overflow_unknown", totals.overflow_unknown},
               {"skipped_unknown", totals.fate_unknown},
               {"op_statuses", totals.op_statuses},
               {"dropped_steps", totals.dropped_steps},
               {"dropped_ops", totals.dropped_ops}};
  if (Collected(totals.steps, totals.overflow_unknown)) {
    json["overflows"] = totals.overflows;
  }
  if (Collected(totals.steps, totals.fate_unknown)) {
    json["skipped"] = totals.skipped;
  }
  return json;
}

Json ScalerJson(const ScalerView& scaler) {
  Json json = {{"name", scaler.name},
               {"recognised", scaler.recognised},
               {"floor", JsonOrNull(scaler.floor)},
               {"attempts_to_floor", JsonOrNull(scaler.attempts_to_floor)},
               {"impossible_transitions", scaler.impossible_transitions}};
  if (const auto& layers = scaler.layers) {
    json["layers"] = {{"count", layers->layers},
                      {"lowest", JsonNumber(layers->lowest)},
                      {"lowest_op", layers->lowest_op},
                      {"lowest_rank", layers->lowest_rank},
                      {"highest", JsonNumber(layers->highest)},
                      {"highest_op", layers->highest_op},
                      {"highest_rank", layers->highest_rank}};
  }
  return json;
}

Json RankJson(const RankView& rank) {
  Json json = {{"rank", rank.description.rank},
               {"local_rank", rank.description.local_rank},
               {"host", rank.description.host},
               {"device", rank.description.device},
               {"device_id", rank.description.device_id},
               {"state", Name(rank.state)},
               {"severity", Name(rank.severity)},
               {"last_step", rank.last_step},
               {"last_record", JsonTime(rank.last_record)},
               {"clock_skew_seconds", ToSeconds(rank.clock_skew)}};
  json["values"] = ValuesJson(rank.latest);
  json["totals"] = TotalsJson(rank.totals);
  return json;
}

Json OpViewJson(const OpView& op) {
  Json json = {{"name", op.name},
               {"type", op.type},
               {"slot", Name(op.slot)},
               {"rank", op.rank},
               {"bad_statuses", op.bad_statuses},
               {"bad_elements", op.bad_elements},
               {"first_bad_step", op.first_bad_step},
               {"last_bad_step", op.last_bad_step},
               {"padding_elements", op.padding}};
  if (op.abs_max) json["abs_max"] = JsonNumber(*op.abs_max);
  return json;
}

Json ConditionsJson(const RunView& run) {
  Json json = Json::object();
  for (int f = 0; f < kFamilies; ++f) {
    json[std::string(Name(static_cast<Family>(f)))] = {
        {"severity", Name(run.family[f])}, {"detections", run.detections[f]}};
  }
  return json;
}

Json RanksJson(const RunView& run, size_t most) {
  Json json = Json::array();
  for (const auto& block : run.ranks) {
    if (!block) continue;
    for (const RankView& rank : *block) {
      if (json.size() >= most) return json;
      json.push_back(RankJson(rank));
    }
  }
  return json;
}

Json DescriptionJson(const RunDescription& run) {
  Json json = {{"job", run.job},
               {"framework", run.framework},
               {"precision", run.precision},
               {"overflow_mode", Name(run.overflow_mode)},
               {"world_size", run.world_size},
               {"loss_scaling", Name(run.scaler.kind)}};
  if (run.clip_norm) json["clip_norm"] = JsonNumber(*run.clip_norm);
  if (run.seed) json["seed"] = *run.seed;
  if (!run.settings.empty()) json["settings"] = run.settings;
  return json;
}

}  // namespace

Json RunSummaryJson(const RunView& run) {
  const Health health = HealthOf(run);
  Json json = {{"run_id", run.key.run_id},
               {"attempt", run.key.attempt},
               {"job", run.description.job},
               {"state", Name(run.state)},
               {"severity", Name(run.severity)},
               {"worst", Name(WorstEver(run))},
               {"health", health.words},
               {"health_severity", Name(health.severity)},
               {"headline", run.diagnosis.headline},
               {"opened", JsonTime(run.opened)},
               {"last_record", JsonTime(run.last_record)},
               {"ended", nullptr},
               {"end_reason", run.end_reason},
               {"last_step", run.last_step},
               {"judged_since_step", run.judged_since},
               {"world_size", run.description.world_size},
               {"ranks_open", run.ranks_open},
               {"ranks_lost", run.ranks_lost},
               {"optimizer_attempts", run.attempts},
               {"optimizer_updates_unknown", run.fate_unknown}};
  if (Collected(run.attempts, run.fate_unknown)) {
    json["optimizer_updates"] = run.applied;
  }
  if (run.ended) json["ended"] = JsonTime(*run.ended);
  // Null: it goes on.
  json["judged_to_end"] = nullptr;
  if (run.state != LifeState::kOpen) {
    json["judged_to_end"] = !NotJudgedToItsEnd(run);
  }
  json["values"] = ValuesJson(run.latest);
  json["totals"] = TotalsJson(run.totals);
  return json;
}

Json RunRowJson(const RunRow& run, Severity worst) {
  const Health health = HealthOfEnded(worst);
  Json json = {{"run_id", run.key.run_id},
               {"attempt", run.key.attempt},
               {"job", run.description.job},
               {"state", run.ended ? "closed" : "lost"},
               {"health", health.words},
               {"health_severity", Name(health.severity)},
               {"opened", JsonTime(run.opened)},
               {"ended", nullptr},
               {"end_reason", run.end_reason},
               {"last_step", run.last_step},
               {"world_size", run.description.world_size}};
  if (run.ended) json["ended"] = JsonTime(*run.ended);
  return json;
}

Json RunDetailJson(const RunView& run, const RuleNames& rule_name,
                   size_t ranks) {
  Json json = RunSummaryJson(run);
  json["description"] = DescriptionJson(run.description);
  json["scaler"] = ScalerJson(run.scaler);
  json["conditions"] = ConditionsJson(run);
  json["causes"] = CausesJson(run.diagnosis, rule_name);
  Json& incidents = json["incidents"] = Json::array();
  for (const Incident& incident : run.incidents) {
    incidents.push_back(IncidentJson(incident, rule_name));
  }
  json["ranks"] = RanksJson(run, ranks);
  Json& ops = json["ops"] = Json::array();
  for (const OpView& op : run.top_ops) ops.push_back(OpViewJson(op));
  if (run.stop_requested) json["stop_requested"] = *run.stop_requested;
  return json;
}

}  // namespace nanwatch
