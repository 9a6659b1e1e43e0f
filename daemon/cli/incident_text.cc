#include "cli/incident_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "cli/cause_text.h"
#include "model/finding.h"

namespace nanwatch {
namespace {

constexpr int kIndent = 4;  // columns below the first line

using Findings = std::vector<const v1::Finding*>;

// The cause that says the same as the incident's summary; -1: none does.
int CauseOf(const v1::RunDetail& run, const v1::Incident& incident,
            const Depth& depth) {
  for (int i = 0; i < std::min(run.causes_size(), depth.causes); ++i) {
    if (run.causes(i).cause() == incident.cause()) return i;
  }
  return -1;
}

bool IsAbout(const v1::Finding& finding, const v1::Subject& subject) {
  return !subject.op().empty() && finding.subject().op() == subject.op() &&
         finding.subject().slot() == subject.slot();
}

// True for what stands above already: in the summary, or as evidence.
bool IsSaid(const v1::Finding& finding, const v1::CauseVerdict* cause) {
  if (finding.in_summary() != Name(InSummary::kNot) &&
      !finding.in_summary().empty()) {
    return true;
  }
  return cause != nullptr &&
         std::any_of(cause->evidence().begin(), cause->evidence().end(),
                     [&](const v1::Evidence& evidence) {
                       return evidence.sentence() == finding.sentence();
                     });
}

// Those that say more than what stands above them, where it began first.
Findings News(const v1::RunDetail& run, const v1::Incident& incident,
              int number) {
  const v1::CauseVerdict* cause = number < 0 ? nullptr : &run.causes(number);
  const v1::Subject& origin =
      cause == nullptr ? incident.subject() : cause->origin();
  Findings news;
  for (const v1::Finding& finding : incident.findings()) {
    if (!IsSaid(finding, cause)) news.push_back(&finding);
  }
  std::stable_sort(news.begin(), news.end(), [&](auto* a, auto* b) {
    return std::tuple(!IsAbout(*a, origin), a->opened_step()) <
           std::tuple(!IsAbout(*b, origin), b->opened_step());
  });
  return news;
}

// `alike`: how many more say the same, as `more` puts it.
std::string FindingLine(const v1::RunDetail& run, const v1::Finding& finding,
                        size_t alike, std::string_view more,
                        const Style& style) {
  v1::Subject subject = finding.subject();
  // Of one rank nobody asks which.
  if (run.ranks_size() <= 1) subject.set_rank(-1);
  const std::string place = Place(subject);
  std::string text = fmt::format(
      "{}{}: {}", finding.rule(),
      place.empty() ? "" : fmt::format(" ({})", place), finding.sentence());
  if (alike > 0) {
    text += fmt::format(" And {} more {}{}.", Grouped(alike), more,
                        alike > 1 ? "s" : "");
  }
  return style.Dim(fmt::format("{:{}}+ ", "", kIndent) +
                   Wrapped(text, kIndent + 2, style.columns)
                       .substr(static_cast<size_t>(kIndent) + 2));
}

// True for what two ranks say of the same.
bool IsSameOnAnotherRank(const v1::Finding& a, const v1::Finding& b) {
  return a.rule() == b.rule() && a.sentence() == b.sentence() &&
         a.subject().op() == b.subject().op() &&
         a.subject().slot() == b.subject().slot() &&
         a.subject().optimizer() == b.subject().optimizer();
}

// The steps of it. Sentences of a run that goes on are made anew every so many
// updates: of an older one, the step up to which its findings were seen.
std::string SpanOfSteps(const v1::RunDetail& run,
                        const v1::Incident& incident) {
  const std::string from = fmt::format("step {}", incident.opened_step());
  if (incident.has_resolved_step()) {
    return from + fmt::format(" to {}", incident.resolved_step());
  }
  int64_t seen = INT64_MIN;
  for (const v1::Finding& finding : incident.findings()) {
    seen = std::max(seen, finding.last_step());
  }
  const bool older = seen != INT64_MIN && seen < run.summary().last_step();
  const bool goes_on = run.summary().state() == v1::LIFE_STATE_OPEN &&
                       incident.state() == v1::ALERT_STATE_FIRING;
  return from + (older && goes_on ? fmt::format(", seen up to {}", seen) : "");
}

}  // namespace

std::string_view Word(const v1::Incident& incident) {
  const bool ended = incident.state() == v1::ALERT_STATE_RESOLVED;
  return ended && !incident.has_resolved_step() ? "open at the end"
                                                : Word(incident.state());
}

std::string CauseNumber(const v1::RunDetail& run, const v1::Incident& incident,
                        const Depth& depth) {
  const int cause = CauseOf(run, incident, depth);
  return cause < 0 ? "" : fmt::format("cause {}", cause + 1);
}

std::string IncidentBody(const v1::RunDetail& run, const v1::Incident& incident,
                         const Depth& depth, const Style& style) {
  const int cause = CauseOf(run, incident, depth);
  std::string out;
  if (cause < 0) out += Wrapped(incident.summary(), kIndent, style.columns);
  Findings news = News(run, incident, cause);
  const bool whole = depth.findings == Depth::kEvery;
  for (int i = 0; i < depth.findings && !news.empty(); ++i) {
    const v1::Finding& first = *news[0];
    const size_t before = news.size();
    std::erase_if(news, [&](const v1::Finding* finding) {
      return whole ? IsSameOnAnotherRank(*finding, first)
                   : finding->rule() == first.rule();
    });
    out += FindingLine(run, first, before - news.size() - 1,
                       whole ? "rank" : "finding", style);
  }
  return out;
}

std::string IncidentText(const v1::RunDetail& run, const v1::Incident& incident,
                         const Depth& depth, const Style& style) {
  const std::string when = SpanOfSteps(run, incident);
  const std::string cause = CauseNumber(run, incident, depth);
  std::string out = fmt::format(
      "  {} {:<15} {:<24} {}{}{}\n",
      style.Tint(incident.worst(),
                 fmt::format("{:<8}", Word(incident.worst()))),
      Word(incident), incident.rule(), when, cause.empty() ? "" : ", " + cause,
      incident.muted() ? ", muted" : "");
  out += IncidentBody(run, incident, depth, style);
  out += style.Dim(fmt::format("    id {:016x}", incident.id()));
  if (!incident.acknowledged_by().empty()) {
    out +=
        fmt::format("  acknowledged by {}", Clean(incident.acknowledged_by()));
  }
  return out + '\n';
}

}  // namespace nanwatch
