// Incident: the findings of one cause, from opened to resolved. And Notice: the
// news of it for the world outside.

#ifndef NANWATCH_MODEL_INCIDENT_H_
#define NANWATCH_MODEL_INCIDENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/diagnosis.h"
#include "model/finding.h"
#include "model/pod.h"
#include "model/run.h"

namespace nanwatch {

enum class AlertState : uint8_t { kPending, kFiring, kResolved };
constexpr AlertState Last(AlertState) { return AlertState::kResolved; }
std::string_view Name(AlertState state);

struct Incident {
  // Hash of (run, attempt, family, op, opening step) as it opened: the same
  // after every replay.
  uint64_t id = 0;
  Family family = Family::kScale;
  // Of the finding that the cause rests on; where it names none of the first of
  // all since they came: the lowest step, then ops before the rest, the lowest
  // rule, the lowest rank. `opened_step` is always that of the first, and where
  // the cause names an op, the subject is the cause's.
  RuleId rule = RuleId::kNone;
  // That it had when it was first worth a warning: names of alerts and of
  // metrics go by it, so that nobody is paged anew when its name improves.
  Family alert_family = Family::kScale;
  Cause cause = Cause::kUnexplained;
  Subject subject;     // the first cause: rank and op
  std::string host;    // of that rank; may be empty
  std::string device;  // of that rank; may be empty
  Pod pod;             // of that rank
  AlertState state = AlertState::kPending;
  Severity severity = Severity::kNone;  // now, under the cause's ceiling
  Severity worst = Severity::kNone;     // ever
  int64_t opened_step = 0;
  // The first after the last one that its findings were seen at; absent: they
  // are not gone, or never were.
  std::optional<int64_t> resolved_step;
  Time opened{};
  Time fired{};
  Time updated{};
  std::optional<Time> resolved;
  std::string resolved_reason;    // "cleared", "run closed", "run lost", ...
  std::string summary;            // one sentence
  std::vector<Finding> findings;  // the first cause first; children after it
  int reopened = 0;
  // Of a run that ended: another incident of it stands for this one too.
  bool part = false;
  // Of a run that ended: the incident of an attempt before that came back as
  // this one, which stands for both. 0: none.
  uint64_t repeats = 0;
  std::string acknowledged_by;  // empty: nobody
  bool muted = false;           // no notices; still shown
};

// One incident changed; sent only when its event is committed.
struct Notice {
  RunKey run;
  std::string job;
  Incident incident;
  std::vector<Action> actions;
  bool resolved = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_INCIDENT_H_
