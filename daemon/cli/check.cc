// nanwatch check: finished logs of other programs, judged without a daemon.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/log_judge.h"
#include "cli/commands.h"
#include "cli/log_input.h"
#include "cli/report.h"
#include "detect/rules.h"
#include "logs/line_splitter.h"
#include "rpc/view_messages.h"

namespace nanwatch {
namespace {

using Json = nlohmann::ordered_json;

std::string RuleNameOf(int number) {
  const RuleSpec* spec = FindRule(number);
  return spec == nullptr ? std::to_string(number) : std::string(spec->name);
}

struct Checked {
  LogVerdict verdict;
  std::string error;  // the file could not be read to its end; empty: it was
};

Checked CheckOne(const std::string& path, const CheckOptions& options) {
  LogJudge::Options judged;
  judged.run_id = path == "-" ? "standard input" : path;
  judged.format = options.format;
  judged.columns = options.columns;
  LogJudge judge(std::move(judged));
  LineSplitter splitter([&](std::string_view line) { judge.ReadLine(line); });
  const Status read =
      ReadLogBytes(path, [&](std::string_view bytes) { splitter.Feed(bytes); });
  splitter.Finish();
  return {judge.Finish(), read.ok() ? "" : read.error()};
}

Json IncidentJson(const Incident& incident, size_t attempt) {
  Json json;
  json["rule"] = RuleNameOf(incident.rule);
  json["family"] = Name(incident.family);
  json["severity"] = Name(incident.worst);
  json["state"] = Name(incident.state);
  json["attempt"] = attempt;
  json["opened_step"] = incident.opened_step;
  json["resolved_step"] = nullptr;
  if (incident.resolved_step) json["resolved_step"] = *incident.resolved_step;
  json["cause"] = Name(incident.cause);
  json["summary"] = incident.summary;
  for (const Finding& finding : incident.findings) {
    json["findings"].push_back({{"rule", RuleNameOf(finding.rule)},
                                {"step", finding.opened_step},
                                {"sentence", finding.sentence}});
  }
  return json;
}

Json FileJson(const std::string& path, const Checked& checked) {
  const LogVerdict& verdict = checked.verdict;
  Json json;
  json["file"] = path;
  json["emitter"] = verdict.emitter;
  json["lines"] = verdict.lines;
  json["steps"] = verdict.steps;
  json["worst"] = Name(verdict.worst);
  json["at_end"] = Name(verdict.at_end);
  json["incidents"] = Json::array();
  json["diagnosis"] = "";
  for (size_t i = 0; i < verdict.attempts.size(); ++i) {
    std::vector<Incident> incidents = verdict.attempts[i]->incidents;
    std::sort(incidents.begin(), incidents.end(),
              [](auto& a, auto& b) { return a.opened_step < b.opened_step; });
    for (const Incident& incident : incidents) {
      json["incidents"].push_back(IncidentJson(incident, i));
    }
    json["diagnosis"] = verdict.attempts[i]->diagnosis.headline;
  }
  if (!checked.error.empty()) json["error"] = checked.error;
  return json;
}

int StatusOf(const LogVerdict& verdict) {
  if (verdict.records == 0) return kExitFailed;
  if (verdict.worst == Severity::kCritical) return 2;
  return verdict.worst == Severity::kWarning ? 1 : 0;
}

void PrintReport(const std::string& path, const Checked& checked,
                 const Style& style) {
  const LogVerdict& verdict = checked.verdict;
  if (!checked.error.empty()) {
    std::fprintf(stderr, "nanwatch: %s\n", checked.error.c_str());
  }
  if (verdict.records == 0) {
    fmt::print(
        "{}: nothing to judge: {} lines, none of them a step line of a "
        "known program (`nanwatch check --list-formats`; `--map` names "
        "the columns of others).\n",
        path, verdict.lines);
    return;
  }
  for (const auto& attempt : verdict.attempts) {
    v1::RunDetail detail;
    WriteDetail(*attempt, RuleNameOf, &detail);
    fmt::print("{}", DiagnosisReport(detail, style));
  }
}

}  // namespace

int CheckLogs(const std::vector<std::string>& paths,
              const CheckOptions& options, const Style& style) {
  int status = kExitFailed;  // until something could be judged
  Json all = Json::array();
  for (const std::string& path : paths) {
    const Checked checked = CheckOne(path, options);
    const int one = StatusOf(checked.verdict);
    if (one != kExitFailed) {
      status = status == kExitFailed ? one : std::max(status, one);
    }
    if (options.json) {
      all.push_back(FileJson(path, checked));
    } else {
      PrintReport(path, checked, style);
    }
  }
  if (options.json) {
    const Json& json = paths.size() == 1 ? all[0] : all;
    fmt::print("{}\n", json.dump(2, ' ', false,
                                 nlohmann::detail::error_handler_t::replace));
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
