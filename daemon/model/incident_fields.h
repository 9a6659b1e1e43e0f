// The fields of incidents, findings and diagnoses (model/field.h). A new field
// is one line here, and one in each message that has it.

#ifndef NANWATCH_MODEL_INCIDENT_FIELDS_H_
#define NANWATCH_MODEL_INCIDENT_FIELDS_H_

#include "model/diagnosis.h"
#include "model/field.h"
#include "model/finding.h"
#include "model/incident.h"

namespace nanwatch {

// Findings of one incident in JSON.
inline constexpr size_t kFindingsShown = 16;

template <typename A>
void Fields(A& a, Subject& s) {
  a.Field("rank", s.rank, Where(s.rank >= 0));
  a.Field("optimizer", s.optimizer, Where(!s.optimizer.empty()));
  a.Field("op", s.op, Where(!s.op.empty()));
  a.Field("slot", s.slot, Where(!s.op.empty()));
}

template <typename A>
void Fields(A& a, EvidenceNumber& n) {
  a.Field("name", n.name);
  a.Field("value", n.value);
  a.Field("unit", n.unit);
}

template <typename A>
void Fields(A& a, Finding& f) {
  a.Field("rule", f.rule);
  a.Field("family", f.family, kNotShown);
  a.Field("subject", f.subject);
  a.Field("severity", f.severity);
  a.Field("opened_step", f.opened_step);
  a.Field("last_step", f.last_step);
  a.Field("opened", f.opened);
  a.Field("last", f.last);
  a.Field("sentence", f.sentence);
  a.Field("sentence_over", f.sentence_over, kNotShown);
  a.Field("numbers", f.numbers);
  a.Field("in_summary", f.in_summary);
  a.Field("back_step", f.back_step, kNotShown);
}

template <typename A>
void Fields(A& a, Incident& i) {
  a.Field("id", i.id);
  a.Field("family", i.family);
  a.Field("rule", i.rule);
  a.Field("alert_family", i.alert_family, kNotShown);
  a.Field("cause", i.cause);
  a.Field("subject", i.subject);
  a.Field("host", i.host);
  a.Field("device", i.device);
  a.Field("pod", i.pod, Where(i.pod.known()));
  a.Field("state", i.state);
  a.Field("severity", i.severity);
  a.Field("worst", i.worst, Key("worst_severity"));
  a.Field("opened_step", i.opened_step);
  a.Field("resolved_step", i.resolved_step);
  a.Field("opened", i.opened);
  a.Field("fired", i.fired);
  a.Field("updated", i.updated);
  a.Field("resolved", i.resolved);
  a.Field("resolved_reason", i.resolved_reason);
  a.Field("summary", i.summary);
  a.Field("reopened", i.reopened);
  a.Field("acknowledged_by", i.acknowledged_by);
  a.Field("part", i.part, kNotShown);
  a.Field("repeats", i.repeats, kNotShown);
  a.Field("muted", i.muted);
  a.Field("findings", i.findings, AtMost(kFindingsShown));
}

template <typename A>
void Fields(A& a, Evidence& e) {
  a.Field("grade", e.grade);
  a.Field("sentence", e.sentence);
}

template <typename A>
void Fields(A& a, Action& action) {
  a.Field("framework", action.framework);
  a.Field("sentence", action.sentence);
}

// Type and dtype of the op stand in the origin where people see them.
template <typename A>
void Fields(A& a, CauseVerdict& v) {
  a.Field("cause", v.cause);
  a.Field("grade", v.grade);
  a.Field("origin", v.origin);
  a.Field("op_type", v.op_type, kNotShown);
  a.Field("op_dtype", v.op_dtype, kNotShown);
  a.Field("step", v.step);
  a.Field("rule", v.rule, kNotShown);
  a.Field("sentence", v.sentence);
  a.Field("sentence_over", v.sentence_over, kNotShown);
  a.Field("quoted_rule", v.quoted_rule, kNotShown);
  a.Field("quoted", v.quoted, kNotShown);
  a.Field("quoted_as", v.quoted_as, kNotShown);
  a.Field("ceiling", v.ceiling, Key("severity_ceiling"));
  a.Field("evidence", v.evidence);
  a.Field("actions", v.actions);
  a.Field("rules", v.rules);
  a.Field("uncapped", v.uncapped, kNotShown);
  a.Field("ops", v.ops, kNotShown);
  a.Field("unlisted_ops", v.unlisted_ops, kNotShown);
}

template <typename A>
void Fields(A& a, Diagnosis& d) {
  a.Field("causes", d.causes);
  a.Field("condition", d.condition);
  a.Field("headline", d.headline);
  a.Field("headline_lead", d.headline_lead);
  a.Field("headline_cause", d.headline_cause);
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_INCIDENT_FIELDS_H_
