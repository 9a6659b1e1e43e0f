// Incidents, findings and causes as JSON.

#ifndef NANWATCH_JSON_INCIDENT_H_
#define NANWATCH_JSON_INCIDENT_H_

#include <initializer_list>

#include "json/value.h"
#include "model/diagnosis.h"
#include "model/field.h"
#include "model/incident.h"

namespace nanwatch {

// Writes it with at most kFindingsShown of its findings.
Json IncidentJson(const Incident& incident, const RuleNames& rule_name);
// Writes these keys of it in this order, for one line of a command; a rule by
// its name alone. Null: the incident has no such key.
Json IncidentLine(const Incident& incident, const RuleNames& rule_name,
                  std::initializer_list<const char*> keys);
// Writes ranked causes with evidence and actions.
Json CausesJson(const Diagnosis& diagnosis, const RuleNames& rule_name);

}  // namespace nanwatch

#endif  // NANWATCH_JSON_INCIDENT_H_
