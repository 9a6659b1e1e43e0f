#include "cli/check_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "cli/cause_text.h"
#include "cli/coverage_text.h"
#include "cli/incident_text.h"
#include "cli/standing.h"
#include "detect/all_rules.h"
#include "rpc/view_messages.h"

namespace nanwatch {
namespace {

// Incidents of all attempts that were worth a warning.
struct Tally {
  size_t serious = 0;
  size_t firing = 0;  // found to the end
  size_t eased = 0;   // of those, for information by then
  // Of the worst, the first.
  Severity worst = Severity::kNone;
  int64_t first_step = 0;
  RuleId first_rule = RuleId::kNone;
};

Tally TallyOf(const LogVerdict& verdict) {
  Tally tally;
  for (const auto& attempt : verdict.attempts) {
    for (const Incident& incident : attempt->incidents) {
      if (incident.worst < Severity::kWarning) continue;
      const bool last = attempt == verdict.attempts.back();
      if (last && !incident.resolved_step) {
        ++tally.firing;
        tally.eased += incident.severity < Severity::kWarning;
      }
      ++tally.serious;
      if (incident.worst > tally.worst ||
          (incident.worst == tally.worst &&
           incident.opened_step < tally.first_step)) {
        tally.worst = incident.worst;
        tally.first_step = incident.opened_step;
        tally.first_rule = incident.rule;
      }
    }
  }
  return tally;
}

// Of the first incident of the highest severity; rank -1: there is none.
Subject WorstSubject(const LogVerdict& verdict) {
  const Incident* worst = nullptr;
  for (const auto& attempt : verdict.attempts) {
    for (const Incident& incident : attempt->incidents) {
      if (worst == nullptr || incident.worst > worst->worst) worst = &incident;
    }
  }
  return worst == nullptr ? Subject{} : worst->subject;
}

// True for NaN here and there: its sentence says in how many records.
bool IsOfSingleRecords(const v1::Incident& incident) {
  if (incident.findings_size() == 0) return false;
  for (const v1::EvidenceNumber& number : incident.findings(0).numbers()) {
    if (number.name() == "streak") {
      return incident.rule() == RuleNameOf(RuleId::kLossNonfinite) &&
             number.value() <= 1;
    }
  }
  return false;
}

// "step 12 to 40"; with the rank where there are several.
std::string WhenText(const v1::RunDetail& run, const v1::Incident& incident) {
  std::string when = fmt::format("step {}", incident.opened_step());
  // Of one rank nobody asks which.
  if (run.ranks_size() > 1 && incident.subject().rank() >= 0) {
    when = fmt::format("rank {}, {}", incident.subject().rank(), when);
  }
  if (incident.has_resolved_step()) {
    when += fmt::format(" to {}", incident.resolved_step());
  } else {
    const bool eased = incident.severity() < incident.worst();
    when += eased ? ", eased at the end" : " to the end";
  }
  if (incident.reopened() > 0 && !IsOfSingleRecords(incident)) {
    when += incident.reopened() == 1
                ? "; it came back once"
                : fmt::format("; it came back {} times", incident.reopened());
  }
  return when;
}

std::string IncidentLines(const v1::RunDetail& run,
                          const v1::Incident& incident, const Depth& depth,
                          const Style& style) {
  const bool serious = incident.worst() >= v1::SEVERITY_WARNING;
  std::string cause = CauseNumber(run, incident, depth);
  std::string out =
      fmt::format("  {} {}  {}{}\n",
                  style.Tint(incident.worst(),
                             fmt::format("{:<8}", Word(incident.worst()))),
                  WhenText(run, incident), style.Dim(incident.rule()),
                  serious && !cause.empty() ? ", " + cause : "");
  return out + (serious ? IncidentBody(run, incident, depth, style)
                        : Wrapped(incident.summary(), 4, style.columns));
}

// What was worth a warning first, and each in the order of its steps.
std::vector<const v1::Incident*> IncidentsInOrder(const v1::RunDetail& run) {
  std::vector<const v1::Incident*> incidents;
  for (const v1::Incident& i : run.incidents()) incidents.push_back(&i);
  std::stable_sort(incidents.begin(), incidents.end(), [](auto* a, auto* b) {
    return std::pair(a->worst() < v1::SEVERITY_WARNING, a->opened_step()) <
           std::pair(b->worst() < v1::SEVERITY_WARNING, b->opened_step());
  });
  return incidents;
}

// `headline_said`: it stands above.
std::string AttemptText(const RunView& attempt, size_t attempts,
                        bool headline_said, const Depth& depth,
                        const Style& style) {
  v1::RunDetail run;
  WriteDetail(attempt, RuleNameOf, &run);
  // Nothing was found, or it came back in a later attempt and stands there.
  if (run.incidents_size() == 0) return "";
  // Of a healthy run there is nothing to do.
  const bool serious = run.summary().worst() >= v1::SEVERITY_WARNING;
  std::string out;
  if (attempts > 1) {
    out += '\n' +
           style.Bold(fmt::format("Attempt {} of {}", attempt.key.attempt + 1,
                                  attempts)) +
           '\n';
  }
  if (serious && run.causes_size() > 0) {
    out += '\n' + style.Bold("Why, and what to do") + '\n' +
           CausesText(run, headline_said, depth, style);
  }
  if (!serious) run.clear_causes();
  out += '\n' + style.Bold("Incidents") + '\n';
  const int shown = std::min(run.incidents_size(), depth.incidents);
  const std::vector<const v1::Incident*> incidents = IncidentsInOrder(run);
  for (int i = 0; i < shown; ++i) {
    out += IncidentLines(run, *incidents[static_cast<size_t>(i)], depth, style);
  }
  return out + AndMore(run.incidents_size(), shown, "incident", 2);
}

// Returns the attempts of which there is something to say, the newest ones
// where `depth` leaves some out.
std::string AttemptsText(const LogVerdict& verdict, bool headline_said,
                         const Depth& depth, const Style& style) {
  const size_t attempts = verdict.attempts.size();
  std::vector<std::string> texts;
  for (size_t i = 0; i < attempts; ++i) {
    const bool last = i + 1 == attempts;
    std::string text = AttemptText(*verdict.attempts[i], attempts,
                                   last && headline_said, depth, style);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  const auto all = static_cast<int>(texts.size());
  const int shown = std::min(all, depth.attempts);
  std::string out;
  if (shown < all) out = '\n' + AndMore(all, shown, "attempt", 0);
  for (int i = all - shown; i < all; ++i) out += texts[static_cast<size_t>(i)];
  return out;
}

}  // namespace

const ScalerSpec* ScalerOf(const LogVerdict& verdict) {
  if (verdict.attempts.empty()) return nullptr;
  return FindScaler(verdict.attempts.back()->scaler.name);
}

namespace {

// Empty: the program did not give up.
std::string StoppedText(const LogVerdict& verdict, const Style& style) {
  if (!verdict.stopped) return "";
  return Wrapped(
      fmt::format("The program gave up (line {}): {}", verdict.stopped->line,
                  verdict.stopped->word.words),
      2, style.columns);
}

// Who printed it and how much of it there is.
std::string SourceText(const CheckedLog& log, const Style& style) {
  const LogVerdict& verdict = log.verdict;
  std::string out = fmt::format("{} ({})", verdict.emitter, log.certainty);
  // A dump has tensors.
  if (!log.dump) {
    out += fmt::format("; {}, {}", Counted(verdict.lines, "line"),
                       Counted(verdict.updates, verdict.update_word()));
    if (verdict.ranks > 1) {
      out += fmt::format(" of {} ranks", Grouped(verdict.ranks));
    }
  }
  if (const ScalerSpec* scaler = ScalerOf(verdict)) {
    out += fmt::format("; the loss scaler moves as that of {}", scaler->title);
  }
  if (verdict.attempts.size() > 1) {
    out += fmt::format("; the run began again {}",
                       Counted(verdict.attempts.size() - 1, "time"));
  }
  if (log.cut_lines > 0) {
    out += fmt::format("; {} too long, cut", Counted(log.cut_lines, "line"));
  }
  if (log.damaged_records > 0) {
    out += fmt::format("; damaged at {}, passed over",
                       Counted(log.damaged_records, "place"));
  }
  return Wrapped(out + ".", 2, style.columns);
}

}  // namespace

std::string RuleNameOf(RuleId id) {
  const RuleSpec* spec = FindRule(id);
  return spec == nullptr ? std::to_string(NumberOf(id))
                         : std::string(spec->name);
}

namespace {

std::string PathOf(const CheckedLog& log) {
  return log.path == "-" ? "standard input" : Clean(log.path);
}

// How bad, eight letters wide.
std::string LogVerdictText(const CheckedLog& log, const Style& style) {
  const LogStanding standing = StandingOf(log);
  const std::string word = fmt::format("{:<8}", Upper(standing.word));
  if (!log.nothing.empty()) return style.Dim(word);
  return style.Tint(OnWire(standing.severity), word);
}

// What was found, of the worst the first; empty: there is nothing to say of it.
std::string FirstOf(const CheckedLog& log) {
  const LogVerdict& verdict = log.verdict;
  if (!log.nothing.empty()) return "nothing to judge";
  const Tally tally = TallyOf(verdict);
  if (tally.serious == 0) {
    if (verdict.stopped) return "the program gave up";
    const Condition condition = StandingOf(log).condition;
    if (IsHealthy(condition)) return "";
    if (condition == Condition::kNotLearning) return "no update is applied";
    if (condition == Condition::kTrouble && log.dump) return log.dump->first;
    if (condition != Condition::kNotRead) return "too little to judge";
    if (!verdict.cut.empty()) return "not all of it was read";
    return Counted(verdict.coverage.unread, "step line") + " could not be read";
  }
  std::string out = fmt::format("{} from step {}", RuleNameOf(tally.first_rule),
                                tally.first_step);
  if (tally.serious > 1) out += fmt::format(" and {} more", tally.serious - 1);
  return out + (tally.firing > tally.eased ? " to the end"
                : tally.eased > 0          ? ", eased"
                                           : ", over");
}

}  // namespace

std::string VerdictLine(const CheckedLog& log, const Style& style) {
  const LogVerdict& verdict = log.verdict;
  std::string first = FirstOf(log);
  if (first.empty()) {
    first = Counted(verdict.steps, verdict.step_word());
  }
  return fmt::format("{}  {}: {}\n", LogVerdictText(log, style),
                     style.Bold(PathOf(log)), first);
}

namespace {

// Returns the folder that all of `logs` lie in, with its last slash; empty
// where there is none to leave out.
std::string CommonFolder(const std::vector<CheckedLog>& logs) {
  std::string folder = PathOf(logs.front());
  for (const CheckedLog& log : logs) {
    const std::string path = PathOf(log);
    const auto [end, ignored] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    folder.erase(end, folder.end());
  }
  return folder.substr(0, folder.rfind('/') + 1);
}

// "7 logs: 2 critical, 1 warning, 4 healthy."
std::string Sum(const std::vector<CheckedLog>& logs) {
  std::string out = Counted(logs.size(), "log") + ": ";
  const char* comma = "";
  for (const std::string_view word :
       {"critical", "warning", "unread", "unclear", "info", "healthy",
        "nothing"}) {
    const auto count = static_cast<uint64_t>(std::count_if(
        logs.begin(), logs.end(),
        [&](const CheckedLog& log) { return StandingOf(log).word == word; }));
    if (count == 0) continue;
    out += fmt::format("{}{} {}", comma, Grouped(count), word);
    comma = ", ";
  }
  return out + ".\n";
}

}  // namespace

std::string VerdictTable(const std::vector<CheckedLog>& logs,
                         const Style& style) {
  const std::string folder = CommonFolder(logs);
  const auto name = [&](const CheckedLog& log) {
    return PathOf(log).substr(folder.size());
  };
  size_t path = std::string_view("File").size();
  size_t program = std::string_view("Program").size();
  for (const CheckedLog& log : logs) {
    path = std::max(path, name(log).size());
    program = std::max(program, log.verdict.emitter.size());
  }
  std::string out;
  if (!folder.empty()) out += style.Dim(fmt::format("In {}\n", folder));
  out += style.Bold(fmt::format("{:<8}  {:<{}}  {:<{}}  {:>9}  {}\n", "Verdict",
                                "File", path, "Program", program, "Steps",
                                "First trouble"));
  for (const CheckedLog& log : logs) {
    const std::string& emitter = log.verdict.emitter;
    const std::string row = fmt::format(
        "{}  {:<{}}  {:<{}}  {:>9}  {}", LogVerdictText(log, style), name(log),
        path, emitter.empty() ? "-" : emitter, program,
        Grouped(static_cast<uint64_t>(log.verdict.steps)), FirstOf(log));
    out += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
  }
  return out + Sum(logs);
}

std::string LogReport(const CheckedLog& log, const Style& style, bool all) {
  const LogVerdict& verdict = log.verdict;
  if (!log.nothing.empty()) {
    std::string why = log.nothing;
    why[0] = static_cast<char>(std::toupper(why[0]));
    return Wrapped(why, 2, style.columns) + StoppedText(verdict, style);
  }
  const LogStanding standing = StandingOf(log);
  std::string head = Wrapped(standing.headline, 2, style.columns);
  if (standing.condition != Condition::kNotRead) {
    head += Wrapped(CoverageText(verdict.coverage), 2, style.columns);
  }
  head += StoppedText(verdict, style);
  head += Wrapped(log.map_note, 2, style.columns);
  head += style.Dim(SourceText(log, style));
  const Subject drawn = WorstSubject(verdict);
  const std::string picture =
      log.picture.Text(drawn.rank, drawn.optimizer, style);
  if (!picture.empty()) head += '\n' + picture;
  const bool headline_said =
      standing.headline == verdict.attempts.back()->diagnosis.headline;
  const auto report = [&](const Depth& depth) {
    return head + AttemptsText(verdict, headline_said, depth, style);
  };
  return all ? report({}) : OneScreen(report, "--all", style);
}

}  // namespace nanwatch
