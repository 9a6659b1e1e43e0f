#include "web/json_history.h"

#include <string>

#include "model/health.h"

namespace nanwatch {
namespace {

// The value of a bucket without a finite one.
Json NonFinite(const StepBucket::Value& value) {
  if (value.nan == 0 && value.neg_inf == 0) return "Infinity";
  if (value.nan == 0 && value.pos_inf == 0) return "-Infinity";
  return "NaN";
}

Json ValueJson(const StepBucket::Value& value) {
  const bool finite = value.count > 0;
  Json json = {{"count", value.count}};
  json["min"] = finite ? JsonNumber(value.min) : Json(nullptr);
  json["max"] = finite ? JsonNumber(value.max) : Json(nullptr);
  json["last"] = finite ? JsonNumber(value.last) : NonFinite(value);
  if (value.nan > 0) json["nan"] = value.nan;
  if (value.pos_inf > 0) json["pos_inf"] = value.pos_inf;
  if (value.neg_inf > 0) json["neg_inf"] = value.neg_inf;
  return json;
}

Json ValuesJson(const StepBucket::Values& values) {
  Json json = Json::object();
  for (int f = 0; f < kStepFields; ++f) {
    const StepBucket::Value& value = values[f];
    if (value.count + value.nan + value.pos_inf + value.neg_inf == 0) continue;
    json[std::string(Name(static_cast<StepField>(f)))] = ValueJson(value);
  }
  return json;
}

}  // namespace

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
  if (!run.description.owner.empty()) json["owner"] = run.description.owner;
  if (run.ended) json["ended"] = JsonTime(*run.ended);
  return json;
}

Json BucketJson(const StepBucket& bucket) {
  Json json = {
      {"first_step", bucket.first_step}, {"last_step", bucket.last_step},
      {"first", JsonTime(bucket.first)}, {"last", JsonTime(bucket.last)},
      {"records", bucket.records},       {"overflows", bucket.overflows},
      {"skipped", bucket.skipped}};
  json["values"] = ValuesJson(bucket.value);
  if (bucket.parts.empty()) return json;
  Json& optimizers = json["optimizers"] = Json::object();
  for (const StepBucket::Part& part : bucket.parts) {
    optimizers[part.optimizer] = ValuesJson(part.value);
  }
  return json;
}

Json OpRowJson(const OpRow& row) {
  const OpStatus& status = row.status;
  Json json = {{"step", status.step},
               {"time", JsonTime(status.time)},
               {"op", row.op.name},
               {"type", row.op.type},
               {"data_format", row.op.data_format},
               {"dtype", Name(row.op.dtype)},
               {"slot", Name(status.slot)},
               {"elements", status.elements}};
  if (!row.op.logical_shape.empty()) {
    json["logical_shape"] = row.op.logical_shape;
  }
  if (!row.op.storage_shape.empty()) {
    json["storage_shape"] = row.op.storage_shape;
  }
  if (row.op.order >= 0) json["order"] = row.op.order;
  Json& counts = json["counts"] = Json::object();
  for (int c = 0; c < kOpCounts; ++c) {
    if (!status.count[c]) continue;
    counts[std::string(Name(static_cast<OpCount>(c)))] = *status.count[c];
  }
  Json& statistics = json["statistics"] = Json::object();
  for (int s = 0; s < kOpStats; ++s) {
    if (!status.stat[s]) continue;
    statistics[std::string(Name(static_cast<OpStat>(s)))] =
        JsonNumber(*status.stat[s]);
  }
  if (status.device_flag) json["device_flag"] = *status.device_flag;
  if (row.digest) json["digest"] = JsonId(*row.digest);
  if (row.exponents) {
    json["exponents"] = {{"first", row.exponents->first},
                         {"counts", row.exponents->counts}};
  }
  return json;
}

}  // namespace nanwatch
