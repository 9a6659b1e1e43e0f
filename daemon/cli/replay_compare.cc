#include "cli/replay_compare.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "detect/all_rules.h"

namespace nanwatch {
namespace {

std::string RuleName(RuleId id) {
  const RuleSpec* rule = FindRule(id);
  return rule != nullptr ? std::string(rule->name)
                         : fmt::format("{}", NumberOf(id));
}

std::string Described(const RunKey& run, const Incident& incident) {
  return fmt::format("{} attempt {}: {} {} from step {}", run.run_id,
                     run.attempt, Name(incident.worst), RuleName(incident.rule),
                     incident.opened_step);
}

std::string Described(const Finding& finding) {
  std::string out = RuleName(finding.rule);
  if (finding.subject.rank >= 0) {
    out += fmt::format(" of rank {}", finding.subject.rank);
  }
  if (!finding.subject.optimizer.empty()) {
    out += " of optimizer " + finding.subject.optimizer;
  }
  if (!finding.subject.op.empty()) {
    out += fmt::format(" of the {} of {}", Name(finding.subject.slot),
                       finding.subject.op);
  }
  return out;
}

template <typename T>
void Note(std::string_view what, const T& was, const T& now,
          std::vector<std::string>* lines) {
  if (was == now) return;
  lines->push_back(fmt::format("{}: was {}, now {}", what, was, now));
}

const Finding* Same(const Finding& one, const std::vector<Finding>& among) {
  const auto found =
      std::find_if(among.begin(), among.end(), [&](const Finding& other) {
        return other.rule == one.rule && other.subject == one.subject;
      });
  return found != among.end() ? &*found : nullptr;
}

// Names that were hashed make other ids.
bool SameUnderAnotherId(const Incident& a, const Incident& b) {
  return NameDifferences(a, b).empty() && a.subject == b.subject;
}

}  // namespace

std::vector<std::string> NameDifferences(const Incident& was,
                                         const Incident& now) {
  std::vector<std::string> lines;
  Note("rule", RuleName(was.rule), RuleName(now.rule), &lines);
  Note("family", Name(was.family), Name(now.family), &lines);
  Note("cause", Name(was.cause), Name(now.cause), &lines);
  Note("worst severity", Name(was.worst), Name(now.worst), &lines);
  Note("opened at step", was.opened_step, now.opened_step, &lines);
  return lines;
}

std::vector<std::string> WordDifferences(const Incident& was,
                                         const Incident& now) {
  std::vector<std::string> lines;
  if (!was.summary.empty() && was.summary != now.summary) {
    lines.push_back("summary: was \"" + was.summary + "\"");
    lines.push_back("summary: now \"" + now.summary + "\"");
  }
  if (was.findings.empty()) return lines;
  for (const Finding& before : was.findings) {
    const std::string who = "finding " + Described(before);
    const Finding* after = Same(before, now.findings);
    if (after == nullptr) {
      lines.push_back(who + ": gone");
      continue;
    }
    Note(who + ", severity", Name(before.severity), Name(after->severity),
         &lines);
    Note(who + ", opened at step", before.opened_step, after->opened_step,
         &lines);
    if (before.sentence.empty() || before.sentence == after->sentence) continue;
    lines.push_back(who + ": was \"" + before.sentence + "\"");
    lines.push_back(who + ": now \"" + after->sentence + "\"");
  }
  for (const Finding& after : now.findings) {
    if (Same(after, was.findings) == nullptr) {
      lines.push_back("finding " + Described(after) + ": new");
    }
  }
  return lines;
}

ReplayCompare::ReplayCompare(const SentIncidents& sent) : sent_(sent) {
  for (const auto& [run, incident] : sent) {
    moment_[incident.id] = incident.updated;
    until_ = std::max({until_, incident.updated, incident.fired,
                       incident.resolved.value_or(Time{})});
  }
}

void ReplayCompare::Told(const Notice& notice) {
  const Incident& incident = notice.incident;
  const auto recorded = moment_.find(incident.id);
  if (recorded == moment_.end() || recorded->second != incident.updated) return;
  told_[incident.id].push_back(incident);
}

// Of the versions of the recorded moment, what the likest one is and says
// otherwise. Without one, what the incident is in the end.
std::vector<std::string> ReplayCompare::Compare(const Incident& was,
                                                const Incident& end) const {
  std::vector<const Incident*> versions;
  if (const auto told = told_.find(end.id); told != told_.end()) {
    for (const Incident& one : told->second) versions.push_back(&one);
  }
  if (end.updated == was.updated) versions.push_back(&end);
  std::optional<std::vector<std::string>> least;
  for (const Incident* version : versions) {
    std::vector<std::string> lines = NameDifferences(was, *version);
    for (std::string& line : WordDifferences(was, *version)) {
      lines.push_back(std::move(line));
    }
    if (!least || lines.size() < least->size()) least = std::move(lines);
  }
  if (least) return *least;
  of_another_moment_ += !was.summary.empty() || !was.findings.empty();
  return NameDifferences(was, end);
}

std::vector<std::string> ReplayCompare::Differences(const Snapshot& end) const {
  std::map<uint64_t, Found> found;
  end.runs.ForEach([&](const RunView& run) {
    for (const Incident& incident : run.incidents) {
      if (incident.state != AlertState::kPending) {
        found[incident.id] = {run.key, incident};
      }
    }
  });
  of_another_moment_ = 0;
  std::vector<std::string> lines;
  for (const auto& [run, was] : sent_) {
    auto now = found.find(was.id);
    if (now == found.end()) {
      now = std::find_if(found.begin(), found.end(),
                         [&key = run, &earlier = was](const auto& entry) {
                           return entry.second.run == key &&
                                  SameUnderAnotherId(earlier,
                                                     entry.second.incident);
                         });
    }
    if (now == found.end()) {
      lines.push_back("gone: " + Described(run, was));
      continue;
    }
    const Incident& is = now->second.incident;
    for (const std::string& line : Compare(was, is)) {
      lines.push_back(Described(run, was) + ": " + line);
    }
    found.erase(now);
  }
  for (const auto& [id, now] : found) {
    lines.push_back("new: " + Described(now.run, now.incident));
  }
  return lines;
}

}  // namespace nanwatch
