// Incidents, findings and causes as JSON.

#ifndef NANWATCH_WEB_JSON_INCIDENT_H_
#define NANWATCH_WEB_JSON_INCIDENT_H_

#include <functional>
#include <string>

#include "model/diagnosis.h"
#include "model/incident.h"
#include "web/json_value.h"

namespace nanwatch {

// Name of a rule by its number; empty: not known.
using RuleNames = std::function<std::string(RuleId)>;

// Findings of one incident in a reply; "findings_total" says how many there
// are.
inline constexpr size_t kFindingsShown = 16;

Json IncidentJson(const Incident& incident, const RuleNames& rule_name);
// Ranked causes with evidence and actions.
Json CausesJson(const Diagnosis& diagnosis, const RuleNames& rule_name);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_JSON_INCIDENT_H_
