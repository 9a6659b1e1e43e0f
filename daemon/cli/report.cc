#include "cli/report.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>

#include "cli/cause_text.h"
#include "cli/incident_text.h"
#include "cli/run_tables.h"
#include "cli/summary_text.h"

namespace nanwatch {

std::string DiagnosisReport(const v1::RunDetail& run, const Style& style) {
  std::string out =
      HeadText(run.summary(), style) + VerdictText(run.summary(), style);
  if (run.causes_size() > 0) out += '\n' + style.Bold("Why") + '\n';
  for (int i = 0; i < run.causes_size(); ++i) {
    const bool said = run.summary().has_headline_cause() &&
                      run.summary().headline_cause() == i;
    out += CauseText(run.causes(i), i + 1, said, style);
  }
  if (run.incidents_size() > 0) out += '\n' + style.Bold("Incidents") + '\n';
  for (const v1::Incident& incident : run.incidents()) {
    out += IncidentText(run, incident, style);
  }
  return out + '\n' + NumbersText(run, style);
}

std::string RunReport(const v1::RunDetail& run, const Style& style,
                      int64_t now_us) {
  return HeadText(run.summary(), style) + VerdictText(run.summary(), style) +
         '\n' + NumbersText(run, style) + RanksTable(run, style, now_us) +
         OpsTable(run, style);
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
