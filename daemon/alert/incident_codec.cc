#include "alert/incident_codec.h"

namespace nanwatch {
namespace {

// The fewest bytes of each: their numbers alone.
constexpr size_t kFindingBytes = 64;
constexpr size_t kNumberBytes = 24;

void PutTime(Time time, ByteWriter* out) { out->I64(ToMicros(time)); }
Time GetTime(ByteReader* in) { return FromMicros(in->I64()); }

void PutSubject(const Subject& subject, ByteWriter* out) {
  out->I64(subject.rank);
  out->String(subject.optimizer);
  out->String(subject.op);
  out->U8(static_cast<uint8_t>(subject.slot));
}

Subject GetSubject(ByteReader* in) {
  Subject subject;
  subject.rank = static_cast<int32_t>(in->I64());
  subject.optimizer = in->String();
  subject.op = in->String();
  subject.slot = in->Enum(Slot::kCollective);
  return subject;
}

void PutFinding(const Finding& finding, ByteWriter* out) {
  out->I64(NumberOf(finding.rule));
  out->U8(static_cast<uint8_t>(finding.family));
  PutSubject(finding.subject, out);
  out->U8(static_cast<uint8_t>(finding.severity));
  out->I64(finding.opened_step);
  out->I64(finding.last_step);
  PutTime(finding.opened, out);
  PutTime(finding.last, out);
  out->String(finding.sentence);
  out->String(finding.sentence_over);
  out->U64(finding.numbers.size());
  for (const EvidenceNumber& number : finding.numbers) {
    out->String(number.name);
    out->Double(number.value);
    out->String(number.unit);
  }
}

Finding GetFinding(ByteReader* in) {
  Finding finding;
  finding.rule = RuleIdOf(in->I64());
  finding.family = in->Enum(Family::kTelemetry);
  finding.subject = GetSubject(in);
  finding.severity = in->Enum(Severity::kCritical);
  finding.opened_step = in->I64();
  finding.last_step = in->I64();
  finding.opened = GetTime(in);
  finding.last = GetTime(in);
  finding.sentence = in->String();
  finding.sentence_over = in->String();
  finding.numbers.resize(in->Count(kNumberBytes));
  for (EvidenceNumber& number : finding.numbers) {
    number.name = in->String();
    number.value = in->Double();
    number.unit = in->String();
  }
  return finding;
}

}  // namespace

void PutIncident(const Incident& incident, ByteWriter* out) {
  out->U64(incident.id);
  out->U8(static_cast<uint8_t>(incident.family));
  out->I64(NumberOf(incident.rule));
  out->U8(static_cast<uint8_t>(incident.alert_family));
  out->U8(static_cast<uint8_t>(incident.cause));
  PutSubject(incident.subject, out);
  out->String(incident.host);
  out->String(incident.device);
  out->U8(static_cast<uint8_t>(incident.state));
  out->U8(static_cast<uint8_t>(incident.severity));
  out->U8(static_cast<uint8_t>(incident.worst));
  out->I64(incident.opened_step);
  out->U8(incident.resolved_step.has_value());
  out->I64(incident.resolved_step.value_or(0));
  PutTime(incident.opened, out);
  PutTime(incident.fired, out);
  PutTime(incident.updated, out);
  out->U8(incident.resolved.has_value());
  PutTime(incident.resolved.value_or(Time{}), out);
  out->String(incident.resolved_reason);
  out->String(incident.summary);
  out->U64(incident.findings.size());
  for (const Finding& finding : incident.findings) PutFinding(finding, out);
  out->I64(incident.reopened);
  out->String(incident.acknowledged_by);
  out->U8(incident.muted);
}

Incident GetIncident(ByteReader* in) {
  Incident incident;
  incident.id = in->U64();
  incident.family = in->Enum(Family::kTelemetry);
  incident.rule = RuleIdOf(in->I64());
  incident.alert_family = in->Enum(Family::kTelemetry);
  incident.cause = in->Enum(static_cast<Cause>(kCauses - 1));
  incident.subject = GetSubject(in);
  incident.host = in->String();
  incident.device = in->String();
  incident.state = in->Enum(AlertState::kResolved);
  incident.severity = in->Enum(Severity::kCritical);
  incident.worst = in->Enum(Severity::kCritical);
  incident.opened_step = in->I64();
  const bool has_resolved_step = in->U8() != 0;
  const int64_t resolved_step = in->I64();
  if (has_resolved_step) incident.resolved_step = resolved_step;
  incident.opened = GetTime(in);
  incident.fired = GetTime(in);
  incident.updated = GetTime(in);
  const bool has_resolved = in->U8() != 0;
  const Time resolved = GetTime(in);
  if (has_resolved) incident.resolved = resolved;
  incident.resolved_reason = in->String();
  incident.summary = in->String();
  const size_t findings = in->Count(kFindingBytes);
  for (size_t i = 0; i < findings && in->ok(); ++i) {
    incident.findings.push_back(GetFinding(in));
  }
  incident.reopened = static_cast<int>(in->I64());
  incident.acknowledged_by = in->String();
  incident.muted = in->U8() != 0;
  return incident;
}

void PutOrigin(const Origin& origin, ByteWriter* out) {
  out->I64(origin.step);
  out->U8(static_cast<uint8_t>(origin.family));
  out->I64(NumberOf(origin.rule));
  PutSubject(origin.subject, out);
}

Origin GetOrigin(ByteReader* in) {
  Origin origin;
  origin.step = in->I64();
  origin.family = in->Enum(Family::kTelemetry);
  origin.rule = RuleIdOf(in->I64());
  origin.subject = GetSubject(in);
  return origin;
}

void PutPhase(const AlertPhase& phase, ByteWriter* out) {
  out->U8(static_cast<uint8_t>(phase.state));
  out->U8(phase.present);
  out->U8(phase.fired_once);
  PutTime(phase.since, out);
  PutTime(phase.due, out);
  out->I64(phase.reopened);
}

AlertPhase GetPhase(ByteReader* in) {
  AlertPhase phase;
  phase.state = in->Enum(AlertState::kResolved);
  phase.present = in->U8() != 0;
  phase.fired_once = in->U8() != 0;
  phase.since = GetTime(in);
  phase.due = GetTime(in);
  phase.reopened = static_cast<int32_t>(in->I64());
  return phase;
}

}  // namespace nanwatch
