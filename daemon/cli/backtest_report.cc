// What `backtest` says, for people and as JSON.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/backtest.h"
#include "cli/check_report.h"
#include "json/incident.h"
#include "json/value.h"

namespace nanwatch {
namespace {

enum class Change : uint8_t { kSame, kAppears, kVanishes, kMoves };

Change ChangeOf(const IncidentPair& pair) {
  if (pair.before == nullptr) return Change::kAppears;
  if (pair.after == nullptr) return Change::kVanishes;
  const Incident& a = pair.before->incident;
  const Incident& b = pair.after->incident;
  const bool same = a.rule == b.rule && a.worst == b.worst &&
                    a.opened_step == b.opened_step &&
                    a.resolved_step == b.resolved_step &&
                    pair.before->told_step == pair.after->told_step;
  return same ? Change::kSame : Change::kMoves;
}

std::string_view ChangeWord(Change change) {
  switch (change) {
    case Change::kSame:
      return "same";
    case Change::kAppears:
      return "appears";
    case Change::kVanishes:
      return "vanishes";
    case Change::kMoves:
      return "changes";
  }
  return "";
}

bool IsForInformation(const IncidentPair& pair) {
  const auto info = [](const ToldIncident* told) {
    return told == nullptr || told->incident.worst < Severity::kWarning;
  };
  return info(pair.before) && info(pair.after);
}

const ToldIncident& ShownOf(const IncidentPair& pair) {
  return pair.after != nullptr ? *pair.after : *pair.before;
}

std::string StepsOf(const Incident& incident) {
  return incident.resolved_step
             ? fmt::format("step {} to {}", incident.opened_step,
                           *incident.resolved_step)
             : fmt::format("step {} to the end", incident.opened_step);
}

// "told 12 steps earlier, critical instead of warning".
std::string Difference(const IncidentPair& pair) {
  const ToldIncident& a = *pair.before;
  const ToldIncident& b = *pair.after;
  std::vector<std::string> parts;
  const int64_t later = b.told_step - a.told_step;
  if (later != 0) {
    parts.push_back(fmt::format("told {} step{} {}", std::abs(later),
                                std::abs(later) == 1 ? "" : "s",
                                later > 0 ? "later" : "earlier"));
  }
  if (a.incident.worst != b.incident.worst) {
    parts.push_back(fmt::format("{} instead of {}", Name(b.incident.worst),
                                Name(a.incident.worst)));
  }
  if (a.incident.rule != b.incident.rule) {
    parts.push_back(fmt::format("instead of {}", RuleNameOf(a.incident.rule)));
  }
  if (a.incident.opened_step != b.incident.opened_step ||
      a.incident.resolved_step != b.incident.resolved_step) {
    parts.push_back("was " + StepsOf(a.incident));
  }
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string PairText(const IncidentPair& pair, const Style& style) {
  const ToldIncident& told = ShownOf(pair);
  const Incident& incident = told.incident;
  const Change change = ChangeOf(pair);
  const std::string severity = fmt::format("{:<8}", Name(incident.worst));
  const std::string subject =
      incident.subject.op.empty() ? "" : " in " + Clean(incident.subject.op);
  std::string out =
      fmt::format("  {:<9}{} {}{}, {}\n", ChangeWord(change),
                  style.Tint(OnWire(incident.worst), severity),
                  RuleNameOf(incident.rule), subject, StepsOf(incident));
  if (change == Change::kMoves) {
    return out + Wrapped(Difference(pair), 20, style.columns);
  }
  return out + style.Dim(Wrapped(incident.summary, 20, style.columns));
}

struct Counts {
  size_t same = 0;
  size_t appear = 0;
  size_t vanish = 0;
  size_t earlier = 0;
  size_t later = 0;
  size_t severity = 0;
  size_t otherwise = 0;  // another name, or other steps, and nothing of these
  size_t hidden = 0;     // of differences, for information only
};

Counts CountPairs(const std::vector<IncidentPair>& pairs) {
  Counts n;
  for (const IncidentPair& pair : pairs) {
    const Change change = ChangeOf(pair);
    if (change == Change::kSame) {
      ++n.same;
      continue;
    }
    if (IsForInformation(pair)) {
      ++n.hidden;
      continue;
    }
    if (change == Change::kAppears) ++n.appear;
    if (change == Change::kVanishes) ++n.vanish;
    if (change != Change::kMoves) continue;
    const int64_t later = pair.after->told_step - pair.before->told_step;
    const bool severity =
        pair.after->incident.worst != pair.before->incident.worst;
    n.earlier += later < 0;
    n.later += later > 0;
    n.severity += severity;
    n.otherwise += later == 0 && !severity;
  }
  return n;
}

std::string RunText(const BacktestedRun& run,
                    const std::vector<IncidentPair>& all,
                    const BacktestOptions& options, const Style& style) {
  std::vector<IncidentPair> pairs;
  for (const IncidentPair& pair : all) {
    if (ShownOf(pair).run == run.key) pairs.push_back(pair);
  }
  const Counts n = CountPairs(pairs);
  std::string out = fmt::format(
      "\n{} attempt {}: {}; {} the same, {} appear, {} vanish, {} "
      "earlier, {} later, {} of another severity, {} changed otherwise\n",
      style.Bold(Clean(run.key.run_id)), run.key.attempt,
      Counted(run.updates, "update"), n.same, n.appear, n.vanish, n.earlier,
      n.later, n.severity, n.otherwise);
  for (const IncidentPair& pair : pairs) {
    const bool same = ChangeOf(pair) == Change::kSame;
    if (!options.all && (same || IsForInformation(pair))) continue;
    out += PairText(pair, style);
  }
  if (n.hidden > 0 && !options.all) {
    out += style.Dim(fmt::format(
        "  {} that are for information differ too; --all lists them\n",
        n.hidden));
  }
  return out;
}

std::string Rate(uint64_t alarms, uint64_t updates) {
  return fmt::format("{:.3g}", 1000.0 * static_cast<double>(alarms) /
                                   static_cast<double>(updates));
}

std::string AlarmsText(const BacktestOptions& options,
                       const std::vector<BacktestedFile>& files) {
  if (options.healthy.empty() && !options.all_healthy) {
    return "not known: name healthy runs with --healthy, or --all-healthy";
  }
  const FalseAlarms a = CountFalseAlarms(options, files);
  if (a.updates == 0) return "not known: the healthy runs have no steps";
  return fmt::format(
      "{} instead of {} per 1,000 steps ({} instead of {}, in {} healthy steps "
      "of {} run attempts)",
      Rate(a.after, a.updates), Rate(a.before, a.updates), a.after, a.before,
      Grouped(a.updates), a.runs);
}

std::string LeadWords(const std::optional<int64_t>& lead) {
  if (!lead) return "no alert";
  if (*lead == 0) return "an alert at that step";
  const auto steps = static_cast<uint64_t>(std::abs(*lead));
  return fmt::format("an alert {} {}", Counted(steps, "step"),
                     *lead > 0 ? "before" : "after");
}

std::string LeadsText(const std::vector<BacktestedFile>& files) {
  std::string out;
  for (const BacktestedFile& file : files) {
    for (const LeadTime& lead : LeadTimesOf(file.outcome)) {
      out += fmt::format(
          "{}{} attempt {} was lost from step {} on: {}, instead of {}",
          out.empty() ? "" : "; ", Clean(lead.run->key.run_id),
          lead.run->key.attempt, *lead.run->lost_from, LeadWords(lead.after),
          LeadWords(lead.before));
    }
  }
  return out.empty() ? fmt::format(
                           "not known: no run ends with {} updates "
                           "in vain",
                           Backtest::kLostUpdates)
                     : out;
}

std::string ChangesOf(const BacktestedFile& file) {
  if (file.outcome.changes.empty()) {
    return "the thresholds are those that were recorded";
  }
  std::string list;
  for (const ThresholdChange& c : file.outcome.changes) {
    list += fmt::format("{}{}.{} {} instead of {}", list.empty() ? "" : "; ",
                        c.rule, c.threshold, Number(c.after), Number(c.before));
  }
  return list;
}

// The recordings may have been made under different thresholds; of those that
// were not it is said once.
std::string ChangesText(const std::vector<BacktestedFile>& files,
                        const Style& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const BacktestedFile& file : files) {
    const std::string changes = ChangesOf(file);
    auto group =
        std::find_if(groups.begin(), groups.end(),
                     [&](const auto& known) { return known.first == changes; });
    if (group == groups.end()) {
      group = groups.insert(group, {changes, {}});
    }
    group->second.push_back(file.path);
  }
  std::string out;
  for (const auto& [changes, paths] : groups) {
    std::string of = paths[0];
    if (paths.size() == files.size() && paths.size() > 1) {
      of = fmt::format("All {} recordings", paths.size());
    } else {
      for (size_t i = 1; i < paths.size(); ++i) of += ", " + paths[i];
    }
    out += Wrapped(fmt::format("{}: {}.", of, changes), 0, style.columns);
  }
  return out;
}

Json JsonOfTold(const ToldIncident* told) {
  if (told == nullptr) return {};
  const Incident& i = told->incident;
  Json json =
      IncidentLine(i, RuleNameOf,
                   {"rule", "family", "severity", "opened_step", "told_step",
                    "resolved_step", "cause", "rank", "op", "summary"});
  json["severity"] = Name(i.worst);
  json["told_step"] = told->told_step;
  json["rank"] = i.subject.rank;
  json["op"] = i.subject.op;
  return json;
}

Json JsonOfTold(const BacktestedRun& run, const BacktestOutcome& outcome,
                const std::vector<IncidentPair>& pairs) {
  Json json;
  json["run"] = run.key.run_id;
  json["attempt"] = run.key.attempt;
  json["attempts"] = json["update_attempts"] = run.updates;
  json["judged_to_end"] = run.judged_to_its_end;
  json["lost_from"] = run.lost_from ? Json(*run.lost_from) : Json();
  for (const LeadTime& lead : LeadTimesOf(outcome)) {
    if (lead.run->key != run.key) continue;
    json["lead_steps"] = {{"before", lead.before ? Json(*lead.before) : Json()},
                          {"after", lead.after ? Json(*lead.after) : Json()}};
  }
  json["incidents"] = Json::array();
  for (const IncidentPair& pair : pairs) {
    if (ShownOf(pair).run != run.key) continue;
    Json one;
    one["change"] = ChangeWord(ChangeOf(pair));
    if (pair.before != nullptr && pair.after != nullptr) {
      one["later_by_steps"] = pair.after->told_step - pair.before->told_step;
    }
    one["before"] = JsonOfTold(pair.before);
    one["after"] = JsonOfTold(pair.after);
    json["incidents"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string BacktestText(const BacktestOptions& options,
                         const std::vector<BacktestedFile>& files,
                         const Style& style) {
  std::string out = ChangesText(files, style);
  for (const BacktestedFile& file : files) {
    if (!file.complaint.empty()) {
      out += Wrapped(file.path + ": " + file.complaint, 0, style.columns);
    }
  }
  for (const BacktestedFile& file : files) {
    const std::vector<IncidentPair> pairs =
        MatchIncidents(file.outcome.before, file.outcome.after);
    for (const BacktestedRun& run : file.outcome.runs) {
      out += RunText(run, pairs, options, style);
    }
  }
  out += '\n' + Wrapped("False alarms: " + AlarmsText(options, files) + ".", 0,
                        style.columns);
  return out +
         Wrapped("Lead time: " + LeadsText(files) + ".", 0, style.columns);
}

std::string BacktestJson(const BacktestOptions& options,
                         const std::vector<BacktestedFile>& files) {
  Json json;
  json["rules"] = options.rules;
  json["false_alarms"] = nullptr;
  const FalseAlarms alarms = CountFalseAlarms(options, files);
  if (alarms.updates > 0) {
    const auto rate = [&](uint64_t n) {
      return 1000.0 * static_cast<double>(n) /
             static_cast<double>(alarms.updates);
    };
    json["false_alarms"] = {{"healthy_steps", alarms.updates},
                            {"before", alarms.before},
                            {"after", alarms.after},
                            {"before_per_1000_steps", rate(alarms.before)},
                            {"after_per_1000_steps", rate(alarms.after)}};
  }
  json["recordings"] = Json::array();
  for (const BacktestedFile& file : files) {
    Json one;
    one["file"] = file.path;
    if (!file.complaint.empty()) one["complaint"] = file.complaint;
    one["steps"] = file.outcome.steps;
    one["changes"] = Json::array();
    for (const ThresholdChange& c : file.outcome.changes) {
      one["changes"].push_back({{"rule", c.rule},
                                {"threshold", c.threshold},
                                {"before", c.before},
                                {"after", c.after}});
    }
    const std::vector<IncidentPair> pairs =
        MatchIncidents(file.outcome.before, file.outcome.after);
    one["runs"] = Json::array();
    for (const BacktestedRun& run : file.outcome.runs) {
      one["runs"].push_back(JsonOfTold(run, file.outcome, pairs));
    }
    json["recordings"].push_back(std::move(one));
  }
  return Dump(json, 2);
}

}  // namespace nanwatch
