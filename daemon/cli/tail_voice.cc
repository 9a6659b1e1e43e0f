#include "cli/tail_voice.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/cause_text.h"
#include "cli/check_report.h"
#include "cli/coverage_text.h"
#include "cli/standing.h"
#include "json/incident.h"

namespace nanwatch {
namespace {

constexpr std::string_view kName = "nanwatch: ";
// Incidents that are remembered as told; a run has fewer.
constexpr size_t kToldMax = 10000;
// Times that the same incident is told in full.
constexpr int64_t kTimesInFull = 3;

bool PowerOfTen(int64_t n) {
  while (n % 10 == 0 && n > 0) n /= 10;
  return n == 1;
}

// "step 12 of attempt 2, rank 3"
std::string StepAndRank(const Notice& notice, int64_t step) {
  std::string out = fmt::format("step {}", step);
  if (notice.run.attempt > 0) {
    out += fmt::format(" of attempt {}", notice.run.attempt + 1);
  }
  if (notice.incident.subject.rank > 0) {
    out += fmt::format(", rank {}", notice.incident.subject.rank);
  }
  return out;
}

// "likely cause: range overflow. To do: ..."; empty: nothing is known.
std::string CauseAndCure(const Notice& notice) {
  std::string out;
  if (notice.incident.cause != Cause::kUnexplained) {
    std::string cause(Name(notice.incident.cause));
    std::replace(cause.begin(), cause.end(), '_', ' ');
    out = "likely cause: " + cause + ". ";
  }
  if (!notice.actions.empty()) {
    const auto any =
        std::find_if(notice.actions.begin(), notice.actions.end(),
                     [](const Action& a) { return a.framework.empty(); });
    out += "To do: " +
           (any == notice.actions.end() ? notice.actions[0] : *any).sentence;
  }
  return out;
}

}  // namespace

TailVoice::TailVoice(int file, bool json)
    : file_(file),
      json_(json),
      wrap_(isatty(file) != 0),
      style_(Style::OfTerminal(file)) {}

// Whole lines in one write, so that they stay whole among the log's.
void TailVoice::Say(const std::string& text) const {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t put = write(file_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;  // nobody listens
    rest.remove_prefix(static_cast<size_t>(put));
  }
}

// On a terminal wrapped below its beginning, elsewhere one line, for grep.
std::string TailVoice::Line(const std::string& text, int indent) const {
  if (!wrap_) return Clean(text) + '\n';
  const std::string wrapped = Wrapped(text, indent, style_.columns);
  return wrapped.substr(
      std::min<size_t>(static_cast<size_t>(indent), wrapped.size()));
}

void TailVoice::Note(std::string_view text) const {
  if (json_) {
    Say(Dump({{"event", "note"}, {"text", text}}));
  } else {
    Say(style_.Dim(fmt::format("{}{}", kName, Clean(text))) + '\n');
  }
}

void TailVoice::Tell(const Notice& notice) {
  if (quiet_) return;
  if (told_.size() >= kToldMax) told_.clear();
  Told& told = told_[notice.incident.id];
  const Severity before = told.severity;
  if (json_) {
    TellJson(notice, notice.resolved             ? "resolved"
                     : before == Severity::kNone ? "fired"
                                                 : "changed");
  } else {
    TellText(notice, &told);
  }
  told.severity = notice.resolved ? Severity::kNone : notice.incident.severity;
  told.cause = notice.incident.cause;
}

void TailVoice::Alarm(Severity severity, const std::string& what) const {
  const std::string word = Upper(Name(severity));
  std::string line =
      Line(fmt::format("{} at {}", word, what), static_cast<int>(kName.size()));
  line.replace(0, word.size(), style_.Tint(OnWire(severity), word));
  Say(std::string(kName) + line);
}

void TailVoice::TellText(const Notice& notice, Told* told) const {
  const Incident& incident = notice.incident;
  if (notice.resolved) {
    // Without a step its attempt ended before it was over.
    if (!std::exchange(told->aloud, false) || !incident.resolved_step) return;
    Say(std::string(kName) +
        Line(fmt::format("over at {}: {} ({} since step {})",
                         StepAndRank(notice, *incident.resolved_step),
                         RuleNameOf(incident.rule), Name(incident.worst),
                         incident.opened_step),
             static_cast<int>(kName.size())));
    return;
  }
  const bool began = told->severity == Severity::kNone;
  const bool worse = incident.severity > told->severity;
  const bool explained = told->cause != incident.cause && !began;
  if (incident.severity < Severity::kWarning || !(worse || explained)) return;
  ++told->times;
  if (told->times > kTimesInFull && !PowerOfTen(told->times)) return;
  told->aloud = true;
  const std::string word = Upper(Name(incident.severity));
  const std::string again =
      told->times > 1 && began
          ? fmt::format(" (again: {} times by now)", told->times)
          : "";
  std::string first =
      Line(fmt::format("{} at {}{}: {}", word,
                       StepAndRank(notice, incident.opened_step), again,
                       incident.summary),
           static_cast<int>(kName.size()));
  first.replace(0, word.size(), style_.Tint(OnWire(incident.severity), word));
  std::string text = std::string(kName) + first;
  std::string advice = CauseAndCure(notice);
  if (!advice.empty() && advice != told->advice) {
    text += std::string(kName) + "  " +
            Line(advice, static_cast<int>(kName.size()) + 2);
    told->advice = std::move(advice);
  }
  Say(text);
}

void TailVoice::TellJson(const Notice& notice, std::string_view event) const {
  const Incident& incident = notice.incident;
  Json json = IncidentLine(
      incident, RuleNameOf,
      {"event", "id", "attempt", "rule", "family", "severity", "worst", "rank",
       "opened_step", "resolved_step", "cause", "summary"});
  json["event"] = event;
  json["attempt"] = notice.run.attempt;
  if (incident.subject.rank >= 0) json["rank"] = incident.subject.rank;
  if (!notice.resolved) json["resolved_step"] = nullptr;
  json["actions"] = Json::array();
  for (const Action& action : notice.actions) {
    json["actions"].push_back(action.sentence);
  }
  Say(Dump(json));
}

int TailVoice::Conclude(const LogVerdict& verdict, const std::string& name,
                        const std::string& more) const {
  CheckedLog log;
  log.path = name;
  log.verdict = verdict;
  if (verdict.records == 0) log.nothing = "no step was read.";
  const LogStanding standing = StandingOf(log);
  if (json_) {
    Json json = {{"event", "verdict"},
                 {"emitter", verdict.emitter},
                 {"lines", verdict.lines},
                 {"steps", verdict.steps},
                 {"verdict", standing.word},
                 {"worst", Name(verdict.worst)},
                 {"at_end", Name(verdict.at_end)},
                 {"condition", Name(standing.condition)},
                 {"diagnosis", standing.headline},
                 {"coverage", CoverageJson(verdict)}};
    if (verdict.stopped) json["stopped"] = verdict.stopped->word.words;
    Say(Dump(json));
    return standing.status;
  }
  std::string text = VerdictLine(log, style_);
  if (standing.severity >= Severity::kWarning) {
    text += "  " + Line(standing.headline, 2);
  }
  if (verdict.stopped) {
    text += "  " + Line(fmt::format("The program gave up (line {}): {}",
                                    verdict.stopped->line,
                                    verdict.stopped->word.words),
                        2);
  }
  if (!more.empty()) text += "  " + Line(more, 2);
  Say(text);
  return standing.status;
}

}  // namespace nanwatch
