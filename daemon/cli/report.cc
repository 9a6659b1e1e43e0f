#include "cli/report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/cause_text.h"
#include "cli/incident_text.h"
#include "cli/run_tables.h"
#include "cli/summary_text.h"

namespace nanwatch {

namespace {

using Incidents = std::vector<const v1::Incident*>;

// What fires first, then the worst, then what began first.
Incidents InOrder(const v1::RunDetail& run) {
  Incidents incidents;
  for (const v1::Incident& incident : run.incidents()) {
    incidents.push_back(&incident);
  }
  std::stable_sort(incidents.begin(), incidents.end(), [](auto* a, auto* b) {
    const auto key = [](const v1::Incident& i) {
      return std::tuple(i.state() != v1::ALERT_STATE_FIRING, -i.worst(),
                        i.opened_step());
    };
    return key(*a) < key(*b);
  });
  return incidents;
}

std::string IncidentsText(const v1::RunDetail& run, const Depth& depth,
                          const Style& style) {
  if (run.incidents_size() == 0) return "";
  const int shown = std::min(run.incidents_size(), depth.incidents);
  const Incidents incidents = InOrder(run);
  std::string out = '\n' + style.Bold("Incidents") + '\n';
  for (int i = 0; i < shown; ++i) {
    out += IncidentText(run, *incidents[static_cast<size_t>(i)], depth, style);
  }
  return out + AndMore(run.incidents_size(), shown, "incident", 2);
}

// Returns the command that shows all of the attempt.
std::string WithAll(std::string_view command, const v1::RunSummary& run) {
  return fmt::format(
      "nanwatch {} {}{} --all", command, Clean(run.run_id()),
      run.attempt() > 0 ? fmt::format(" --attempt {}", run.attempt()) : "");
}

}  // namespace

std::string DiagnosisReport(const v1::RunDetail& run, const Style& style,
                            bool all) {
  const auto report = [&](const Depth& depth) {
    std::string out =
        HeadText(run.summary(), style) + VerdictText(run.summary(), style);
    if (run.causes_size() > 0) {
      out += '\n' + style.Bold("Why") + '\n' +
             CausesText(run, /*headline_said=*/true, depth, style);
    }
    return out + IncidentsText(run, depth, style) + '\n' +
           NumbersText(run, style);
  };
  if (all) return report({});
  return OneScreen(report, WithAll("diagnose", run.summary()), style);
}

std::string RunReport(const v1::RunDetail& run, const Style& style,
                      int64_t now_us, bool all) {
  const auto report = [&](const Depth& depth) {
    return HeadText(run.summary(), style) + VerdictText(run.summary(), style) +
           '\n' + NumbersText(run, style) +
           RanksTable(run, depth.rows, style, now_us) +
           OpsTable(run, depth.rows, style);
  };
  if (all) return report({});
  return OneScreen(report, WithAll("show", run.summary()), style);
}

std::string Brief(const v1::RunDetail& run) {
  const v1::Severity worst = run.summary().worst();
  const std::string_view word =
      worst == v1::SEVERITY_UNSPECIFIED ? "none" : Word(worst);
  if (run.causes_size() == 0) return fmt::format("{} none none\n", word);
  return fmt::format("{} {} {}\n", word, run.causes(0).cause(),
                     Word(run.causes(0).grade()));
}

}  // namespace nanwatch
