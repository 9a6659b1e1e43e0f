// Alert: what Alertmanager is told. Its identity holds no rank, op, step or
// number: those change while the trouble stays the same.

#ifndef NANWATCH_NOTIFY_ALERT_H_
#define NANWATCH_NOTIFY_ALERT_H_

#include <compare>
#include <string>
#include <string_view>

#include "base/time.h"
#include "model/incident.h"

namespace nanwatch {

struct AlertLabels {
  std::string alertname;  // "NanwatchLossScale"
  std::string severity;   // "warning", "critical"
  std::string run_id;
  std::string condition;  // the family: "scale"
  auto operator<=>(const AlertLabels&) const = default;
};
AlertLabels LabelsOf(const Notice& notice);
// "NanwatchLossScale", "NanwatchOp", ...
std::string_view AlertName(Family family);

// True when people should be told of it now.
bool IsActive(const Notice& notice, Severity from);
// True when it fires and people would be told, had nobody muted it.
bool IsMuted(const Notice& notice, Severity from);
// Why nothing more is said of it: "muted", or the incident's own reason.
std::string OverReason(const Notice& notice);

// One alert of an Alertmanager request, made of the incident shown.
struct Alert {
  AlertLabels labels;
  Notice shown;  // the first incident with these labels
  size_t incidents = 1;
  Time starts{};
  Time ends{};
};

// Base URLs of links; where one is empty there are no such links.
struct LinkBases {
  std::string_view external;  // of this daemon's pages
  std::string_view runbooks;  // of the pages of deploy/runbooks
};
// The page of the incident's run and step; may be empty.
std::string PageOf(const Notice& notice, const LinkBases& bases);
// What to do about alerts of this name; may be empty.
std::string RunbookOf(const Notice& notice, const LinkBases& bases);
// "rank 3 (node7, NVIDIA H100)", "rank 0", or "" for a run's incident.
std::string PlaceOf(const Incident& incident);
// The sentences of its findings, at most five.
// Where it began, what else is affected, and what the summary does not say.
std::string DescriptionOf(const Incident& incident);
// The first general action and those of the run's framework.
std::string ActionsOf(const Notice& notice);

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_ALERT_H_
