#include "json/run.h"

#include <string>

#include "json/fields.h"
#include "json/incident.h"
#include "model/view_fields.h"

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

Json RankJson(const RankView& rank) {
  Json json = JsonFields::Of(rank, {});
  json["values"] = ValuesJson(rank.latest);
  json["totals"] = JsonFields::Of(rank.totals, {});
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
  Json json = JsonFields::Of(run, {});
  json["values"] = ValuesJson(run.latest);
  json["totals"] = JsonFields::Of(run.totals, {});
  return json;
}

Json RunDetailJson(const RunView& run, const RuleNames& rule_name,
                   size_t ranks) {
  Json json = RunSummaryJson(run);
  json["description"] = DescriptionJson(run.description);
  json["scaler"] = JsonFields::Of(run.scaler, {});
  json["conditions"] = ConditionsJson(run);
  json["causes"] = CausesJson(run.diagnosis, rule_name);
  Json& incidents = json["incidents"] = Json::array();
  for (const Incident& incident : run.incidents) {
    incidents.push_back(IncidentJson(incident, rule_name));
  }
  json["ranks"] = RanksJson(run, ranks);
  Json& ops = json["ops"] = Json::array();
  for (const OpView& op : run.top_ops) {
    ops.push_back(JsonFields::Of(op, {}));
  }
  if (run.benchmark) json["benchmark"] = JsonFields::Of(*run.benchmark, {});
  if (run.stop_requested) json["stop_requested"] = *run.stop_requested;
  return json;
}

Json LayerRangesJson(const LayerRangesView& ranges) {
  const auto number = [](const std::optional<double>& value) {
    return value ? JsonNumber(*value) : Json(nullptr);
  };
  Json json;
  Json& layers = json["layers"] = Json::array();
  for (const LayerRangeView& layer : ranges.layers) {
    layers.push_back({{"name", layer.name},
                      {"lowest", number(layer.lowest)},
                      {"highest", number(layer.highest)},
                      {"scale", number(layer.scale)},
                      {"lost", layer.lost},
                      {"attempts", layer.attempts},
                      {"cut", layer.cut},
                      {"all_lost", layer.all_lost},
                      {"outside", layer.outside},
                      {"group", layer.group ? Json(*layer.group) : Json()}});
  }
  Json& groups = json["groups"] = Json::array();
  for (const ScaleGroupView& group : ranges.groups) {
    groups.push_back({{"scale", group.scale},
                      {"lowest", group.lowest},
                      {"highest", group.highest},
                      {"bound", group.bound}});
  }
  return json;
}

}  // namespace nanwatch
