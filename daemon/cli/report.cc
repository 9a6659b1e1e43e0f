#include "cli/report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace nanwatch {
namespace {

std::optional<double> Last(const v1::RunSummary& run, std::string_view field) {
  for (const v1::StepValue& value : run.values()) {
    if (value.field() == field && value.has_last()) return value.last();
  }
  return std::nullopt;
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(c));
  return out;
}

// "harmless_padding" as "Harmless padding".
std::string Title(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(out[0]));
  return out;
}

std::string Place(const v1::Subject& subject) {
  std::string out;
  const auto add = [&out](std::string part) {
    if (!out.empty()) out += ", ";
    out += part;
  };
  if (!subject.op().empty()) {
    add(fmt::format("op {} ({})", subject.op(), subject.slot()));
  }
  if (!subject.optimizer().empty()) {
    add(fmt::format("optimizer {}", subject.optimizer()));
  }
  if (subject.rank() >= 0) add(fmt::format("rank {}", subject.rank()));
  if (!subject.host().empty()) add(fmt::format("host {}", subject.host()));
  if (!subject.device().empty()) add(fmt::format("on {}", subject.device()));
  return out;
}

std::string Head(const v1::RunSummary& run, const Style& style) {
  std::string name =
      Fitted(run.run_id(), std::min<size_t>(run.run_id().size(), 60));
  std::string out = style.Bold(name);
  if (!run.job().empty()) out += fmt::format("  {}", run.job());
  out += style.Dim(
      fmt::format("  attempt {}, {}", run.attempt(), Word(run.state())));
  if (!run.end_reason().empty()) {
    out += style.Dim(fmt::format(" ({})", run.end_reason()));
  }
  return out + '\n';
}

std::string Verdict(const v1::RunSummary& run, const Style& style) {
  std::string word = Upper(Word(Shown(run)));
  if (run.state() == v1::LIFE_STATE_CLOSED) word += ", ended";
  return style.Tint(Shown(run), word) + '\n' +
         Wrapped(run.headline(), 2, style.columns);
}

std::string Numbers(const v1::RunDetail& detail, const Style& style) {
  const v1::RunSummary& run = detail.summary();
  std::string out = style.Bold("Numbers") + '\n';
  out += fmt::format(
      "  step {}: {} attempts, {} applied; {} records, {} overflowed, {} "
      "skipped\n",
      run.last_step(), Grouped(run.attempts()), Grouped(run.applied()),
      Grouped(run.steps()), Grouped(run.overflows()), Grouped(run.skipped()));
  out += fmt::format("  loss {}   loss scale {}   gradient norm {}\n",
                     Number(Last(run, "loss")), Number(Last(run, "loss_scale")),
                     Number(Last(run, "grad_norm")));
  const v1::ScalerSummary& scaler = detail.scaler();
  if (!scaler.name().empty()) {
    out += fmt::format("  scaler {}{}", scaler.name(),
                       scaler.recognised() ? " (recognised)" : "");
    if (scaler.has_floor()) {
      out += fmt::format(", floor {}", Number(scaler.floor()));
    }
    if (scaler.has_attempts_to_floor()) {
      out += fmt::format(", reached in {} attempts at this rate",
                         scaler.attempts_to_floor());
    }
    out += '\n';
  }
  out += fmt::format("  {} of {} ranks connected", run.ranks_open(),
                     run.world_size());
  if (run.ranks_lost() > 0) out += fmt::format(", {} lost", run.ranks_lost());
  if (run.dropped_steps() > 0) {
    out += fmt::format("; {} step records were dropped by clients",
                       Grouped(run.dropped_steps()));
  }
  out += '\n';
  if (detail.judged_since() > 0) {
    out += fmt::format("  judged since step {}\n", detail.judged_since());
  }
  if (!detail.stop_requested().empty()) {
    out +=
        Wrapped("stop requested: " + detail.stop_requested(), 2, style.columns);
  }
  return out;
}

// `said`: the sentence stands above already.
std::string CauseText(const v1::CauseVerdict& cause, int number, bool said,
                      const Style& style) {
  std::string out =
      fmt::format("  {}. {} {}\n", number, style.Bold(Title(cause.cause())),
                  style.Dim(fmt::format("({})", Word(cause.grade()))));
  if (!said) out += Wrapped(cause.sentence(), 5, style.columns);
  const std::string place = Place(cause.origin());
  out += style.Dim(fmt::format("     since step {}{}{}", cause.step(),
                               place.empty() ? "" : ", ", place)) +
         '\n';
  for (const v1::Evidence& evidence : cause.evidence()) {
    const std::string text = Wrapped(evidence.sentence(), 19, style.columns);
    out += fmt::format("     {:<12}  {}", Word(evidence.grade()),
                       text.empty() ? "\n" : text.substr(19));
  }
  if (cause.actions_size() > 0) out += "     What to do:\n";
  for (const v1::Action& action : cause.actions()) {
    const std::string sentence =
        action.framework().empty()
            ? action.sentence()
            : fmt::format("{}: {}", action.framework(), action.sentence());
    out += "     - " + Wrapped(sentence, 7, style.columns).substr(7);
  }
  return out;
}

// The cause that says the same as the incident's summary; 0: none does.
int CauseOf(const v1::RunDetail& run, const v1::Incident& incident) {
  for (int i = 0; i < run.causes_size(); ++i) {
    if (run.causes(i).cause() == incident.cause()) return i + 1;
  }
  return 0;
}

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
    out += fmt::format("  acknowledged by {}", incident.acknowledged_by());
  }
  return out + '\n';
}

std::string RankLine(const v1::RankSummary& rank, const Style& style,
                     int64_t now_us) {
  double loss = 0;
  bool has_loss = false;
  std::optional<double> scale;
  for (const v1::StepValue& value : rank.values()) {
    if (!value.has_last()) continue;
    if (value.field() == "loss") {
      loss = value.last();
      has_loss = true;
    }
    if (value.field() == "loss_scale") scale = value.last();
  }
  return fmt::format(
      "  {:>6}  {}  {:<6}  {:>9}  {:>12}  {:>10}  {:>9}  {}\n", rank.rank(),
      Fitted(rank.host(), 16), Word(rank.state()), rank.last_step(),
      has_loss ? Number(loss) : "-", Number(scale), Grouped(rank.overflows()),
      style.Tint(rank.severity(), Ago(rank.last_record_us(), now_us)));
}

}  // namespace

v1::Severity Shown(const v1::RunSummary& run) {
  return run.state() == v1::LIFE_STATE_CLOSED ? run.worst() : run.severity();
}

std::string DiagnosisReport(const v1::RunDetail& run, const Style& style) {
  std::string out = Head(run.summary(), style) + Verdict(run.summary(), style);
  if (run.causes_size() > 0) out += '\n' + style.Bold("Why") + '\n';
  for (int i = 0; i < run.causes_size(); ++i) {
    const bool said = run.summary().headline().find(run.causes(i).sentence()) !=
                      std::string::npos;
    out += CauseText(run.causes(i), i + 1, said, style);
  }
  if (run.incidents_size() > 0) out += '\n' + style.Bold("Incidents") + '\n';
  for (const v1::Incident& incident : run.incidents()) {
    out += IncidentText(run, incident, style);
  }
  return out + '\n' + Numbers(run, style);
}

std::string RunReport(const v1::RunDetail& run, const Style& style,
                      int64_t now_us) {
  std::string out = Head(run.summary(), style) + Verdict(run.summary(), style) +
                    '\n' + Numbers(run, style);
  if (run.ranks_size() > 0) {
    out += '\n' + style.Bold("Ranks") + '\n';
    out += style.Dim(fmt::format(
               "  {:>6}  {:<16}  {:<6}  {:>9}  {:>12}  {:>10}  {:>9}  {}",
               "rank", "host", "state", "step", "loss", "scale", "overflows",
               "last record")) +
           '\n';
  }
  constexpr int kRanksShown = 32;
  for (int i = 0; i < std::min(run.ranks_size(), kRanksShown); ++i) {
    out += RankLine(run.ranks(i), style, now_us);
  }
  if (run.ranks_size() > kRanksShown) {
    out += fmt::format("  and {} more\n", run.ranks_size() - kRanksShown);
  }
  if (run.ops_size() > 0) out += '\n' + style.Bold("Ops that were bad") + '\n';
  for (const v1::OpSummary& op : run.ops()) {
    out += fmt::format("  {}  {:<10} {:>9} times, step {} to {}, {} elements\n",
                       Fitted(op.name(), 28), op.slot(),
                       Grouped(op.bad_statuses()), op.first_bad_step(),
                       op.last_bad_step(), Grouped(op.bad_elements()));
  }
  return out;
}

std::string RunsTable(const v1::ListRunsResponse& runs, const Style& style) {
  if (runs.runs_size() == 0) {
    return "No run is known. A training appears here once it has opened a "
           "session.\n";
  }
  std::string out =
      style.Dim(fmt::format("{:<9} {:<24} {:>3} {:<6} {:>9} {:>11} {:>11}  {}",
                            "health", "run", "try", "state", "step", "loss",
                            "scale", "last record")) +
      '\n';
  for (const v1::RunSummary& run : runs.runs()) {
    out += fmt::format(
        "{} {} {:>3} {:<6} {:>9} {:>11} {:>11}  {}\n",
        style.Tint(Shown(run), fmt::format("{:<9}", Word(Shown(run)))),
        Fitted(run.run_id(), 24), run.attempt(), Word(run.state()),
        run.last_step(), Number(Last(run, "loss")),
        Number(Last(run, "loss_scale")),
        Ago(run.last_record_us(), runs.now_us()));
  }
  return out;
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
