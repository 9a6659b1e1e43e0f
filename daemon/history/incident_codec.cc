#include "history/incident_codec.h"

#include "nanwatch/v1/history.pb.h"

namespace nanwatch {

namespace {

// Out of range is of a newer version, or damage.
template <typename E>
bool TakeEnum(uint32_t number, E last, E* out) {
  if (number > static_cast<uint32_t>(last)) return false;
  *out = static_cast<E>(number);
  return true;
}

void Put(const Subject& from, v1::StoredSubject* to) {
  to->set_rank(from.rank);
  to->set_optimizer(from.optimizer);
  to->set_op(from.op);
  to->set_slot(static_cast<uint32_t>(from.slot));
}

bool Take(const v1::StoredSubject& from, Subject* to) {
  to->rank = from.rank();
  to->optimizer = from.optimizer();
  to->op = from.op();
  return TakeEnum(from.slot(), Slot::kCollective, &to->slot);
}

void Put(const Finding& from, v1::StoredFinding* to) {
  to->set_rule(NumberOf(from.rule));
  to->set_family(static_cast<uint32_t>(from.family));
  Put(from.subject, to->mutable_subject());
  to->set_severity(static_cast<uint32_t>(from.severity));
  to->set_opened_step(from.opened_step);
  to->set_last_step(from.last_step);
  to->set_opened_us(ToMicros(from.opened));
  to->set_last_us(ToMicros(from.last));
  to->set_sentence(from.sentence);
  for (const EvidenceNumber& number : from.numbers) {
    v1::StoredFinding::Number* stored = to->add_numbers();
    stored->set_name(number.name);
    stored->set_value(number.value);
    stored->set_unit(number.unit);
  }
}

bool Take(const v1::StoredFinding& from, Finding* to) {
  to->rule = RuleIdOf(from.rule());
  to->opened_step = from.opened_step();
  to->last_step = from.last_step();
  to->opened = FromMicros(from.opened_us());
  to->last = FromMicros(from.last_us());
  to->sentence = from.sentence();
  for (const v1::StoredFinding::Number& number : from.numbers()) {
    to->numbers.push_back({number.name(), number.value(), number.unit()});
  }
  return Take(from.subject(), &to->subject) &&
         TakeEnum(from.severity(), Severity::kCritical, &to->severity) &&
         (!from.has_family() ||
          TakeEnum(from.family(), static_cast<Family>(kFamilies - 1),
                   &to->family));
}

bool TakeEnums(const v1::StoredIncident& from, Incident* to) {
  return TakeEnum(from.family(), static_cast<Family>(kFamilies - 1),
                  &to->family) &&
         TakeEnum(from.has_alert_family() ? from.alert_family() : from.family(),
                  static_cast<Family>(kFamilies - 1), &to->alert_family) &&
         TakeEnum(from.cause(), static_cast<Cause>(kCauses - 1), &to->cause) &&
         TakeEnum(from.state(), AlertState::kResolved, &to->state) &&
         TakeEnum(from.severity(), Severity::kCritical, &to->severity) &&
         TakeEnum(from.worst(), Severity::kCritical, &to->worst);
}

}  // namespace

void EncodeIncident(const Incident& from, std::string* out) {
  v1::StoredIncident to;
  to.set_id(from.id);
  to.set_family(static_cast<uint32_t>(from.family));
  to.set_rule(NumberOf(from.rule));
  to.set_cause(static_cast<uint32_t>(from.cause));
  Put(from.subject, to.mutable_subject());
  to.set_host(from.host);
  to.set_device(from.device);
  to.set_state(static_cast<uint32_t>(from.state));
  to.set_severity(static_cast<uint32_t>(from.severity));
  to.set_worst(static_cast<uint32_t>(from.worst));
  to.set_opened_step(from.opened_step);
  if (from.resolved_step) to.set_resolved_step(*from.resolved_step);
  to.set_opened_us(ToMicros(from.opened));
  to.set_fired_us(ToMicros(from.fired));
  to.set_updated_us(ToMicros(from.updated));
  if (from.resolved) to.set_resolved_us(ToMicros(*from.resolved));
  to.set_resolved_reason(from.resolved_reason);
  to.set_summary(from.summary);
  for (const Finding& finding : from.findings) Put(finding, to.add_findings());
  to.set_reopened(from.reopened);
  to.set_acknowledged_by(from.acknowledged_by);
  to.set_muted(from.muted);
  to.set_alert_family(static_cast<uint32_t>(from.alert_family));
  to.SerializeToString(out);
}

Result<Incident> DecodeIncident(std::string_view bytes) {
  v1::StoredIncident from;
  Incident to;
  if (!from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !Take(from.subject(), &to.subject) || !TakeEnums(from, &to)) {
    return Error{
        "a stored incident cannot be read: damaged, or of a newer "
        "version"};
  }
  to.id = from.id();
  to.rule = RuleIdOf(from.rule());
  to.host = from.host();
  to.device = from.device();
  to.opened_step = from.opened_step();
  if (from.has_resolved_step()) to.resolved_step = from.resolved_step();
  to.opened = FromMicros(from.opened_us());
  to.fired = FromMicros(from.fired_us());
  to.updated = FromMicros(from.updated_us());
  if (from.has_resolved_us()) to.resolved = FromMicros(from.resolved_us());
  to.resolved_reason = from.resolved_reason();
  to.summary = from.summary();
  for (const v1::StoredFinding& stored : from.findings()) {
    Finding& finding = to.findings.emplace_back();
    finding.family = to.family;
    if (!Take(stored, &finding)) {
      return Error{"a finding of a stored incident cannot be read"};
    }
  }
  to.reopened = from.reopened();
  to.acknowledged_by = from.acknowledged_by();
  to.muted = from.muted();
  return to;
}

}  // namespace nanwatch
