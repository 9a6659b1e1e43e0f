#include "notify/alert.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "alert/rank_place.h"
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
    case Family::kBenchmark:
      return "NanwatchBenchLossDivergence";
  }
  return "Nanwatch";
}

AlertLabels LabelsOf(const Notice& notice) {
  const Incident& incident = notice.incident;
  return {std::string(AlertName(incident.alert_family)),
          std::string(Name(incident.severity)), notice.run.run_id,
          std::string(Name(incident.alert_family))};
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
                 fmt::format("{}.md", AlertName(notice.incident.alert_family)));
}

std::string PlaceOf(const Incident& incident) {
  if (incident.subject.rank < 0) return {};
  const std::string where =
      Text(RankPlace{incident.host, incident.device, incident.pod});
  return fmt::format("rank {}{}", incident.subject.rank,
                     where.empty() ? "" : " (" + where + ")");
}

namespace {

// "op loss/Log (output)"; empty: no op.
std::string OpOf(const Subject& subject) {
  if (subject.op.empty()) return {};
  return fmt::format("op {} ({})", subject.op, Name(subject.slot));
}

// What else is named by the findings, each once, in their order: a few, and how
// many more.
void AppendAffected(const Incident& incident, std::string* text) {
  constexpr size_t kShown = 4;
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  };
  const Subject& origin = incident.subject;
  for (const Finding& finding : incident.findings) {
    const Subject& subject = finding.subject;
    const bool same_op = subject.op == origin.op && subject.slot == origin.slot;
    if (!subject.op.empty() && !same_op) add(OpOf(subject));
  }
  for (const Finding& finding : incident.findings) {
    const int32_t rank = finding.subject.rank;
    if (rank >= 0 && rank != origin.rank) add(fmt::format("rank {}", rank));
  }
  if (names.empty()) return;
  *text += " Affected, too: ";
  const size_t shown = std::min(names.size(), kShown);
  for (size_t i = 0; i < shown; ++i) *text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) {
    *text += fmt::format(" and {} more", names.size() - shown);
  }
  *text += '.';
}

}  // namespace

std::string DescriptionOf(const Incident& incident) {
  constexpr size_t kSentences = 3;
  std::string text = fmt::format("Began at step {}", incident.opened_step);
  const std::string op = OpOf(incident.subject);
  if (!op.empty()) text += " in " + op;
  const std::string place = PlaceOf(incident);
  if (!place.empty()) text += (op.empty() ? " on " : ", ") + place;
  text += '.';
  AppendAffected(incident, &text);
  // Of ops the names stand above; and nothing is said twice.
  std::set<std::string_view> sentences;
  size_t said = 0;
  for (const Finding& finding : incident.findings) {
    const Subject& subject = finding.subject;
    const bool here =
        subject.op.empty() ||
        (subject.op == incident.subject.op && finding.rule == incident.rule);
    const bool said_already = finding.in_summary != InSummary::kNot ||
                              !sentences.insert(finding.sentence).second;
    if (!here || said_already) continue;
    text += ' ' + finding.sentence;
    if (++said == kSentences) break;
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
