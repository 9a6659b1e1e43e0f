#include "web/json_incident.h"

#include <algorithm>

namespace nanwatch {
namespace {

// Keys of what the subject is not are missing.
Json SubjectJson(const Subject& subject) {
  Json json = Json::object();
  if (subject.rank >= 0) json["rank"] = subject.rank;
  if (!subject.optimizer.empty()) json["optimizer"] = subject.optimizer;
  if (!subject.op.empty()) {
    json["op"] = subject.op;
    json["slot"] = Name(subject.slot);
  }
  return json;
}

Json OriginJson(const CauseVerdict& cause) {
  Json json = SubjectJson(cause.origin);
  if (!cause.op_type.empty()) json["type"] = cause.op_type;
  if (cause.op_dtype != Dtype::kUnknown) json["dtype"] = Name(cause.op_dtype);
  return json;
}

Json RuleJson(RuleId rule, const RuleNames& rule_name) {
  Json json = {{"number", NumberOf(rule)}};
  if (rule_name) json["name"] = rule_name(rule);
  return json;
}

Json FindingJson(const Finding& finding, const RuleNames& rule_name) {
  Json json = {{"rule", RuleJson(finding.rule, rule_name)},
               {"subject", SubjectJson(finding.subject)},
               {"severity", Name(finding.severity)},
               {"opened_step", finding.opened_step},
               {"last_step", finding.last_step},
               {"opened", JsonTime(finding.opened)},
               {"last", JsonTime(finding.last)},
               {"sentence", finding.sentence}};
  Json& numbers = json["numbers"] = Json::array();
  for (const EvidenceNumber& number : finding.numbers) {
    numbers.push_back({{"name", number.name},
                       {"value", JsonNumber(number.value)},
                       {"unit", number.unit}});
  }
  return json;
}

Json CauseJson(const CauseVerdict& cause, const RuleNames& rule_name) {
  Json json = {
      {"cause", Name(cause.cause)},  {"grade", Name(cause.grade)},
      {"origin", OriginJson(cause)}, {"step", cause.step},
      {"sentence", cause.sentence},  {"severity_ceiling", Name(cause.ceiling)}};
  Json& evidence = json["evidence"] = Json::array();
  for (const Evidence& e : cause.evidence) {
    evidence.push_back({{"grade", Name(e.grade)}, {"sentence", e.sentence}});
  }
  Json& actions = json["actions"] = Json::array();
  for (const Action& a : cause.actions) {
    actions.push_back({{"framework", a.framework}, {"sentence", a.sentence}});
  }
  Json& rules = json["rules"] = Json::array();
  for (const RuleId rule : cause.rules) {
    rules.push_back(RuleJson(rule, rule_name));
  }
  return json;
}

}  // namespace

Json IncidentJson(const Incident& incident, const RuleNames& rule_name) {
  Json json = {{"id", JsonId(incident.id)},
               {"family", Name(incident.family)},
               {"rule", RuleJson(incident.rule, rule_name)},
               {"cause", Name(incident.cause)},
               {"subject", SubjectJson(incident.subject)},
               {"host", incident.host},
               {"device", incident.device},
               {"state", Name(incident.state)},
               {"severity", Name(incident.severity)},
               {"worst_severity", Name(incident.worst)},
               {"opened_step", incident.opened_step},
               {"resolved_step", JsonOrNull(incident.resolved_step)},
               {"opened", JsonTime(incident.opened)},
               {"fired", nullptr},
               {"updated", JsonTime(incident.updated)},
               {"resolved", nullptr},
               {"resolved_reason", incident.resolved_reason},
               {"summary", incident.summary},
               {"reopened", incident.reopened},
               {"acknowledged_by", incident.acknowledged_by},
               {"muted", incident.muted},
               {"findings_total", incident.findings.size()}};
  if (incident.fired != Time()) json["fired"] = JsonTime(incident.fired);
  if (incident.resolved) json["resolved"] = JsonTime(*incident.resolved);
  Json& findings = json["findings"] = Json::array();
  const size_t shown = std::min(kFindingsShown, incident.findings.size());
  for (size_t i = 0; i < shown; ++i) {
    findings.push_back(FindingJson(incident.findings[i], rule_name));
  }
  return json;
}

Json CausesJson(const Diagnosis& diagnosis, const RuleNames& rule_name) {
  Json json = Json::array();
  for (const CauseVerdict& cause : diagnosis.causes) {
    json.push_back(CauseJson(cause, rule_name));
  }
  return json;
}

}  // namespace nanwatch
