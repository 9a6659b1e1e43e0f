#include "cli/incident_text.h"

#include <spdlog/fmt/fmt.h>

#include "cli/cause_text.h"

namespace nanwatch {
namespace {

// The cause that says the same as the incident's summary; 0: none does.
int CauseOf(const v1::RunDetail& run, const v1::Incident& incident) {
  for (int i = 0; i < run.causes_size(); ++i) {
    if (run.causes(i).cause() == incident.cause()) return i + 1;
  }
  return 0;
}

}  // namespace

std::string IncidentText(const v1::RunDetail& run, const v1::Incident& incident,
                         const Style& style) {
  std::string when = fmt::format("step {}", incident.opened_step());
  if (incident.has_resolved_step()) {
    when += fmt::format(" to {}", incident.resolved_step());
  }
  std::string out =
      fmt::format("  {} {:<9} {:<24} {}{}\n",
                  style.Tint(incident.worst(),
                             fmt::format("{:<8}", Word(incident.worst()))),
                  Word(incident.state()), incident.rule(), when,
                  incident.muted() ? "  muted" : "");
  const int cause = CauseOf(run, incident);
  out += cause > 0 ? fmt::format("    {} (see {} above)\n",
                                 Title(incident.cause()), cause)
                   : Wrapped(incident.summary(), 4, style.columns);
  for (int i = 1; i < incident.findings_size(); ++i) {
    const v1::Finding& finding = incident.findings(i);
    const std::string place =
        finding.subject().op().empty() ? "" : " in " + Place(finding.subject());
    const std::string sentence =
        fmt::format("{}{}: {}", finding.rule(), place, finding.sentence());
    out += style.Dim("    + " + Wrapped(sentence, 6, style.columns).substr(6));
  }
  out += style.Dim(fmt::format("    id {:016x}", incident.id()));
  if (!incident.acknowledged_by().empty()) {
    out +=
        fmt::format("  acknowledged by {}", Clean(incident.acknowledged_by()));
  }
  return out + '\n';
}

}  // namespace nanwatch
