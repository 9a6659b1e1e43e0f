#include "notify/alert.h"

#include <spdlog/fmt/fmt.h>

#include "net/url.h"

namespace nanwatch {

std::string_view AlertName(Family family) {
  switch (family) {
    case Family::kScale:
      return "NanwatchLossScale";
    case Family::kLoss:
      return "NanwatchLoss";
    case Family::kWeight:
      return "NanwatchWeights";
    case Family::kOp:
      return "NanwatchOpOverflow";
    case Family::kGradient:
      return "NanwatchGradients";
    case Family::kFp8:
      return "NanwatchFp8";
    case Family::kRank:
      return "NanwatchRanksDisagree";
    case Family::kTelemetry:
      return "NanwatchTelemetry";
  }
  return "Nanwatch";
}

AlertLabels LabelsOf(const Notice& notice) {
  const Incident& incident = notice.incident;
  return {std::string(AlertName(incident.family)),
          std::string(Name(incident.severity)), notice.run.run_id,
          std::string(Name(incident.family))};
}

namespace {

bool Fires(const Notice& notice, Severity from) {
  return !notice.resolved && notice.incident.state == AlertState::kFiring &&
         notice.incident.severity >= from;
}

}  // namespace

bool IsActive(const Notice& notice, Severity from) {
  return Fires(notice, from) && !notice.incident.muted;
}

bool IsMuted(const Notice& notice, Severity from) {
  return Fires(notice, from) && notice.incident.muted;
}

std::string OverReason(const Notice& notice) {
  if (!notice.resolved && notice.incident.muted) return "muted";
  return notice.incident.resolved_reason;
}

std::string PageOf(const Notice& notice, const LinkBases& bases) {
  if (bases.external.empty()) return {};
  return JoinUrl(bases.external,
                 fmt::format("?run={}&attempt={}&step={}",
                             PercentEncoded(notice.run.run_id),
                             notice.run.attempt, notice.incident.opened_step));
}

std::string RunbookOf(const Notice& notice, const LinkBases& bases) {
  if (bases.runbooks.empty()) return {};
  return JoinUrl(bases.runbooks,
                 fmt::format("{}.md", AlertName(notice.incident.family)));
}

std::string PlaceOf(const Incident& incident) {
  if (incident.subject.rank < 0) return {};
  std::string place = fmt::format("rank {}", incident.subject.rank);
  if (incident.host.empty() && incident.device.empty()) return place;
  place += " (" + incident.host;
  if (!incident.host.empty() && !incident.device.empty()) place += ", ";
  return place + incident.device + ")";
}

std::string DescriptionOf(const Incident& incident) {
  constexpr size_t kSentences = 5;
  std::string text;
  for (size_t i = 0; i < incident.findings.size(); ++i) {
    if (i == kSentences) {
      text += fmt::format(" And {} more.", incident.findings.size() - i);
      break;
    }
    if (!text.empty()) text += ' ';
    text += incident.findings[i].sentence;
  }
  return text;
}

std::string ActionsOf(const Notice& notice) {
  std::string text;
  for (const Action& action : notice.actions) {
    if (!text.empty()) text += ' ';
    if (!action.framework.empty()) text += "[" + action.framework + "] ";
    text += action.sentence;
  }
  return text;
}

}  // namespace nanwatch
