#include "cli/standing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/coverage_text.h"
#include "cli/style.h"

namespace nanwatch {
namespace {

void SetUnread(const LogVerdict& verdict, LogStanding* standing) {
  const std::string why =
      verdict.cut.empty() ? CoverageText(verdict.coverage) : verdict.cut + '.';
  standing->condition = Condition::kNotRead;
  standing->headline = "No verdict on all of it: " + why +
                       " In what was read, nothing is found.";
}

// The newest attempt shows no trouble: it was one before.
void SetBefore(const LogVerdict& verdict, LogStanding* standing) {
  const RunView& last = *verdict.attempts.back();
  standing->condition = Condition::kHealed;
  std::string trouble;
  for (const auto& attempt : verdict.attempts) {
    if (IsHealthy(attempt->diagnosis.condition)) continue;
    // Its own "Over since" is said already.
    const Diagnosis& of = attempt->diagnosis;
    trouble = fmt::format("Attempt {} of {}: {}", attempt->key.attempt + 1,
                          verdict.attempts.size(),
                          of.headline.substr(of.headline_lead.size()));
  }
  if (trouble.empty() && verdict.stopped) {
    trouble = "The program gave up, and went on.";
  }
  standing->headline =
      fmt::format("Over, {} without trouble since. {}",
                  Counted(last.updates, verdict.update_word()), trouble);
}

std::string_view WordOf(const LogStanding& standing, Severity worst) {
  if (worst >= Severity::kWarning) return Name(worst);
  if (standing.condition == Condition::kNotRead) return "unread";
  if (!IsHealthy(standing.condition)) return "unclear";
  return worst == Severity::kInfo ? "info" : "healthy";
}

// With its severity, word and exit status, where `worst` was found.
LogStanding Graded(LogStanding standing, Severity worst) {
  // A search for a loss scale may end by itself.
  const bool calm = IsHealthy(standing.condition) ||
                    standing.condition == Condition::kNothingApplied;
  standing.severity = calm ? worst : std::max(worst, Severity::kWarning);
  standing.word = WordOf(standing, worst);
  standing.status = standing.severity == Severity::kCritical  ? 2
                    : standing.severity == Severity::kWarning ? 1
                                                              : 0;
  return standing;
}

}  // namespace

LogStanding StandingOf(const CheckedLog& log) {
  const LogVerdict& verdict = log.verdict;
  LogStanding standing;
  if (!log.nothing.empty()) {
    standing.word = "nothing";
    standing.status = kExitFailed;
    return standing;
  }
  const Diagnosis& diagnosis = verdict.attempts.back()->diagnosis;
  standing.condition = diagnosis.condition;
  standing.headline = diagnosis.headline;
  const bool read = verdict.coverage.enough() && verdict.cut.empty();
  if (log.dump && verdict.worst < Severity::kWarning) {
    standing.condition = log.dump->severity == Severity::kNone
                             ? Condition::kHealthy
                             : Condition::kTrouble;
    standing.headline = log.dump->headline;
    if (IsHealthy(standing.condition) && !read) SetUnread(verdict, &standing);
    return Graded(standing, log.dump->severity);
  }
  if (IsHealthy(standing.condition)) {
    if (verdict.worst >= Severity::kWarning) {
      SetBefore(verdict, &standing);
    } else if (!read) {
      SetUnread(verdict, &standing);
    }
  }
  return Graded(standing, verdict.stands);
}

}  // namespace nanwatch
