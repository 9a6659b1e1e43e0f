#include "json/incident.h"

#include "json/fields.h"
#include "model/incident_fields.h"

namespace nanwatch {

Json IncidentJson(const Incident& incident, const RuleNames& rule_name) {
  Json json = JsonFields::Of(incident, rule_name);
  json["id"] = JsonId(incident.id);
  if (incident.fired == Time()) json["fired"] = nullptr;
  return json;
}

Json IncidentLine(const Incident& incident, const RuleNames& rule_name,
                  std::initializer_list<const char*> keys) {
  Json all = IncidentJson(incident, rule_name);
  all["rule"] = rule_name(incident.rule);
  all["worst"] = Name(incident.worst);
  Json line;
  for (const char* key : keys) line[key] = all.value(key, Json());
  return line;
}

Json CausesJson(const Diagnosis& diagnosis, const RuleNames& rule_name) {
  Json json = Json::array();
  for (const CauseVerdict& cause : diagnosis.causes) {
    Json& one = json.emplace_back(JsonFields::Of(cause, rule_name));
    Json& origin = one["origin"];
    if (!cause.op_type.empty()) origin["type"] = cause.op_type;
    if (cause.op_dtype != Dtype::kUnknown) {
      origin["dtype"] = Name(cause.op_dtype);
    }
  }
  return json;
}

}  // namespace nanwatch
