// Notices as the tests of the notifier need them.

#ifndef NANWATCH_TESTS_UNIT_NOTIFY_NOTICE_FIXTURE_H_
#define NANWATCH_TESTS_UNIT_NOTIFY_NOTICE_FIXTURE_H_

#include <string>

#include "model/incident.h"

namespace nanwatch {

inline Time At(int64_t seconds) {
  return Time(std::chrono::seconds(1'700'000'000 + seconds));
}

inline Notice Firing(uint64_t id, Severity severity = Severity::kCritical,
                     int64_t fired = 0) {
  Notice notice;
  notice.run = {"job-7", 1};
  notice.job = "llm";
  notice.actions = {{"", "Use a fixed loss scale."},
                    {"ascend_tf", "FixedLossScaleManager(1024)."}};
  Incident& incident = notice.incident;
  incident.id = id;
  incident.family = Family::kScale;
  incident.cause = Cause::kHarmlessPadding;
  incident.state = AlertState::kFiring;
  incident.severity = incident.worst = severity;
  incident.subject.rank = 3;
  incident.subject.op = "Log";
  incident.host = "node7";
  incident.opened_step = 42;
  incident.opened = incident.fired = incident.updated = At(fired);
  incident.summary = "Log overflows at every step.";
  incident.findings.emplace_back().sentence = "It did.";
  return notice;
}

inline Notice Muted(Notice notice) {
  notice.incident.muted = true;
  return notice;
}

inline Notice Resolved(Notice notice, int64_t at) {
  notice.resolved = true;
  notice.incident.state = AlertState::kResolved;
  notice.incident.resolved = notice.incident.updated = At(at);
  notice.incident.resolved_reason = "cleared";
  return notice;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_NOTIFY_NOTICE_FIXTURE_H_
