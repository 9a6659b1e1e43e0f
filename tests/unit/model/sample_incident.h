// An incident, as a history and an API of 0.1.0 have it.

#ifndef NANWATCH_TESTS_UNIT_MODEL_SAMPLE_INCIDENT_H_
#define NANWATCH_TESTS_UNIT_MODEL_SAMPLE_INCIDENT_H_

#include <limits>

#include "model/incident.h"

namespace nanwatch {

inline Finding NormFinding(double value) {
  Finding f;
  f.rule = RuleId::kGnormSpike;
  f.family = Family::kTelemetry;
  f.subject = {-1, "sgd", "", Slot::kCollective};
  f.severity = Severity::kInfo;
  f.opened_step = -5;
  f.last_step = 1250;
  f.opened = FromMicros(1700000000000001);
  f.last = FromMicros(1700000000000002);
  f.sentence = "A norm of many times its usual.";
  f.numbers = {{"norm", value, "x"}, {"n", 2, ""}};
  return f;
}

inline Incident LossIncident() {
  using Limits = std::numeric_limits<double>;
  Incident i;
  i.id = 0xfedcba9876543210;
  i.family = Family::kLoss;
  i.rule = RuleId::kLossSpike;
  i.alert_family = Family::kGradient;
  i.cause = Cause::kDivergence;
  i.subject = {3, "adam", "head", Slot::kGradInput};
  i.host = "node-4";
  i.device = "NVIDIA H100";
  i.state = AlertState::kResolved;
  i.severity = Severity::kWarning;
  i.worst = Severity::kCritical;
  i.opened_step = 1200;
  i.resolved_step = 1300;
  i.opened = FromMicros(1700000000123456);
  i.fired = FromMicros(1700000001123456);
  i.updated = FromMicros(1700000002123456);
  i.resolved = FromMicros(1700000003123456);
  i.resolved_reason = "cleared";
  i.summary = "The loss left its level.";
  i.findings = {NormFinding(7.25), NormFinding(Limits::quiet_NaN()),
                NormFinding(Limits::infinity())};
  i.reopened = 2;
  i.acknowledged_by = "ann";
  i.muted = true;
  return i;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_MODEL_SAMPLE_INCIDENT_H_
