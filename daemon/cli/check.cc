// nanwatch check: finished logs of other programs, judged without a daemon.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "cli/check_dump.h"
#include "cli/check_log.h"
#include "cli/check_report.h"
#include "cli/commands.h"
#include "cli/coverage_text.h"
#include "cli/dump_files.h"
#include "cli/standing.h"
#include "json/incident.h"
#include "json/value.h"

namespace nanwatch {
namespace {

Json AttemptIncidentJson(const Incident& incident, size_t attempt) {
  Json json = IncidentLine(
      incident, RuleNameOf,
      {"rule", "family", "severity", "state", "attempt", "opened_step",
       "resolved_step", "reopened", "cause", "summary"});
  json["severity"] = Name(incident.worst);
  json["attempt"] = attempt;
  if (incident.subject.rank >= 0) json["rank"] = incident.subject.rank;
  for (const Finding& finding : incident.findings) {
    json["findings"].push_back({{"rule", RuleNameOf(finding.rule)},
                                {"step", finding.opened_step},
                                {"sentence", finding.sentence}});
  }
  return json;
}

// One trouble may show in several families: a NaN in the loss and in the loss
// scale. Who looks for one of them finds it, by the worst and first finding of
// each family but the incident's, from a warning on.
std::vector<Json> FamiliesJson(const Incident& incident, const Json& whole) {
  std::map<Family, const Finding*> of;
  for (const Finding& finding : incident.findings) {
    if (finding.family == incident.family ||
        finding.severity < Severity::kWarning) {
      continue;
    }
    const Finding*& best = of[finding.family];
    if (best == nullptr || finding.severity > best->severity) best = &finding;
  }
  std::vector<Json> rows;
  for (const auto& [family, finding] : of) {
    Json& json = rows.emplace_back(whole);
    json["rule"] = RuleNameOf(finding->rule);
    json["family"] = Name(family);
    json["severity"] = Name(std::min(finding->severity, incident.worst));
    json["opened_step"] = finding->opened_step;
    json["summary"] = finding->sentence;
    json["child_of"] = RuleNameOf(incident.rule);
    json.erase("findings");
  }
  return rows;
}

Json FileJson(const CheckedLog& log) {
  const LogVerdict& verdict = log.verdict;
  Json json;
  json["file"] = log.path;
  json["emitter"] = verdict.emitter;
  json["certainty"] = log.certainty;
  json["lines"] = verdict.lines;
  json["steps"] = verdict.steps;
  // Null: not known. A log declares none: it is told by its moves.
  const ScalerSpec* scaler = ScalerOf(verdict);
  json["scaler"] = nullptr;
  if (scaler != nullptr) json["scaler"] = scaler->name;
  const LogStanding standing = StandingOf(log);
  json["verdict"] = standing.word;
  json["worst"] = Name(verdict.worst);
  json["at_end"] = Name(verdict.at_end);
  json["incidents"] = Json::array();
  for (size_t i = 0; i < verdict.attempts.size(); ++i) {
    std::vector<Incident> incidents = verdict.attempts[i]->incidents;
    std::sort(incidents.begin(), incidents.end(),
              [](auto& a, auto& b) { return a.opened_step < b.opened_step; });
    for (const Incident& incident : incidents) {
      Json whole = AttemptIncidentJson(incident, i);
      std::vector<Json> rows = FamiliesJson(incident, whole);
      json["incidents"].push_back(std::move(whole));
      for (Json& row : rows) json["incidents"].push_back(std::move(row));
    }
  }
  json["condition"] = Name(standing.condition);
  json["diagnosis"] = log.nothing.empty() ? standing.headline : log.nothing;
  json["coverage"] = CoverageJson(verdict);
  if (!log.map_note.empty()) json["map"] = log.map_note;
  if (verdict.stopped) json["stopped"] = verdict.stopped->word.words;
  if (!log.error.empty()) json["error"] = log.error;
  return json;
}

void PrintLogs(const std::vector<CheckedLog>& logs) {
  Json all = Json::array();
  for (const CheckedLog& log : logs) all.push_back(FileJson(log));
  const Json& json = logs.size() == 1 ? all[0] : all;
  fmt::print("{}", Dump(json, 2));
}

// Of several, what there is to say of those that are not healthy, and at the
// end a line each.
void PrintReports(const std::vector<CheckedLog>& logs, const Style& style,
                  bool all) {
  if (logs.size() == 1) {
    fmt::print("{}{}", VerdictLine(logs[0], style),
               LogReport(logs[0], style, all));
    return;
  }
  for (const CheckedLog& log : logs) {
    if (StandingOf(log).status == 0) continue;
    fmt::print("{}{}\n", VerdictLine(log, style), LogReport(log, style, all));
  }
  fmt::print("{}", VerdictTable(logs, style));
}

}  // namespace

int CheckLogs(const std::vector<std::string>& paths,
              const CheckOptions& options, const Style& style) {
  int status = kExitFailed;  // until something could be judged
  std::vector<CheckedLog> logs;
  for (const std::string& path : paths) {
    logs.push_back(path != "-" && IsDump(path) ? CheckDump(path, options)
                                               : CheckLog(path, options));
    const CheckedLog& log = logs.back();
    if (!log.error.empty()) {
      Fail(log.error);
    }
    const int one = StandingOf(log).status;
    if (one != kExitFailed) {
      status = status == kExitFailed ? one : std::max(status, one);
    }
  }
  if (options.json) {
    PrintLogs(logs);
  } else {
    PrintReports(logs, style, options.all);
  }
  return status;
}

int ListFormats() {
  for (const LogFormat* format : AllLogFormats()) {
    fmt::print("{:<20} {}\n", format->name, format->title);
  }
  return 0;
}

}  // namespace nanwatch
