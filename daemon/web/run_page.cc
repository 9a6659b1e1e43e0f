#include "web/run_page.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "web/html.h"
#include "web/json_reply.h"

namespace nanwatch {
namespace {

// More are in the API.
constexpr size_t kIncidentsShown = 200;

std::string Paragraph(std::string_view kind, std::string_view text) {
  std::string html = "<p";
  if (!kind.empty()) html += " class=\"" + std::string(kind) + "\"";
  return html + ">" + HtmlEscaped(text) + "</p>\n";
}

std::string PlaceOf(const Subject& subject) {
  std::string place;
  const auto add = [&place](const std::string& part) {
    if (!place.empty()) place += ", ";
    place += part;
  };
  if (!subject.op.empty()) {
    add("op " + subject.op + " (" + std::string(Name(subject.slot)) + ")");
  }
  if (!subject.optimizer.empty()) add("optimizer " + subject.optimizer);
  if (subject.rank >= 0) add("rank " + std::to_string(subject.rank));
  return place;
}

std::string HeadHtml(const RunView& run) {
  std::string about = "Attempt " + std::to_string(run.key.attempt) + ", " +
                      std::string(Name(run.state)) + ", step " +
                      std::to_string(run.last_step);
  if (!run.description.job.empty()) about = run.description.job + ". " + about;
  if (!run.end_reason.empty()) about += " (" + run.end_reason + ")";
  const Severity shown = ShownSeverity(run);
  return "<h1>" + HtmlEscaped(run.key.run_id) + "</h1>\n" +
         Paragraph("note", about + ".") + "<p class=\"" +
         std::string(Name(shown)) + "\"><span class=\"verdict\">" +
         std::string(SeverityWord(shown)) + "</span> " +
         HtmlEscaped(run.diagnosis.headline) + "</p>\n";
}

std::string Title(std::string_view name) {
  std::string title(name);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

// `said`: its sentence stands above already.
std::string CauseHtml(const CauseVerdict& cause, bool said) {
  std::string since = "Since step " + std::to_string(cause.step);
  if (const std::string place = PlaceOf(cause.origin); !place.empty()) {
    since += ", " + place;
  }
  std::string html = "<h2>" + HtmlEscaped(Title(Name(cause.cause))) + " (" +
                     std::string(Name(cause.grade)) + ")</h2>\n";
  if (!said) html += Paragraph("", cause.sentence);
  html += Paragraph("note", since + ".") + "<ul>\n";
  for (const Evidence& evidence : cause.evidence) {
    html += "<li>" + std::string(Name(evidence.grade)) + ": " +
            HtmlEscaped(evidence.sentence) + "</li>\n";
  }
  html += "</ul>\n";
  if (cause.actions.empty()) return html;
  html += "<p>What to do:</p>\n<ul>\n";
  for (const Action& action : cause.actions) {
    const std::string by =
        action.framework.empty() ? "" : action.framework + ": ";
    html += "<li>" + HtmlEscaped(by + action.sentence) + "</li>\n";
  }
  return html + "</ul>\n";
}

std::string Cell(std::string_view kind, const std::string& text) {
  return "<td class=\"" + std::string(kind) + "\">" + HtmlEscaped(text) +
         "</td>";
}

std::string IncidentHtml(const Incident& incident, std::optional<int64_t> step,
                         const std::function<std::string(int)>& rule_name) {
  std::string steps = std::to_string(incident.opened_step);
  if (incident.resolved_step) {
    steps += " to " + std::to_string(*incident.resolved_step);
  }
  const bool named = step == incident.opened_step;
  return "<tr class=\"" + std::string(Name(incident.worst)) +
         (named ? " named" : "") + "\">" +
         Cell("verdict", std::string(SeverityWord(incident.worst))) +
         Cell("state", std::string(Name(incident.state)) +
                           (incident.muted ? ", muted" : "")) +
         Cell("number", steps) +
         Cell("run", rule_name ? rule_name(incident.rule)
                               : std::to_string(incident.rule)) +
         Cell("job", PlaceOf(incident.subject)) +
         Cell("why", incident.summary) + "</tr>\n";
}

std::string IncidentsHtml(const RunView& run, std::optional<int64_t> step,
                          const std::function<std::string(int)>& rule_name) {
  if (run.incidents.empty()) return "";
  std::string html =
      "<h2>Incidents</h2>\n<table>\n<thead><tr><th>Severity</th>"
      "<th>State</th><th class=\"number\">Step</th><th>Rule</th><th>Where</th>"
      "<th>What</th></tr></thead>\n<tbody>\n";
  size_t shown = 0;
  for (const Incident& incident : run.incidents) {
    if (shown++ == kIncidentsShown) break;
    html += IncidentHtml(incident, step, rule_name);
  }
  return html + "</tbody></table>\n";
}

HttpReply PageReply(int status, std::string html) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "text/html; charset=utf-8";
  reply.body = std::move(html);
  reply.handler = "run_page";
  return reply;
}

HttpReply NoRunPage(const std::string& run_id, const std::string& why) {
  std::string body = "<h1>nanwatch</h1>\n" +
                     Paragraph("", "There is no run " + run_id + " here.");
  if (!why.empty()) body += Paragraph("note", why);
  body += "<nav><a href=\"/\">All runs</a></nav>\n";
  return PageReply(404, HtmlPage("nanwatch", body));
}

}  // namespace

std::string RunPage(const RunView& run, std::optional<int64_t> step,
                    const std::function<std::string(int)>& rule_name) {
  std::string body = HeadHtml(run);
  for (const CauseVerdict& cause : run.diagnosis.causes) {
    body += CauseHtml(cause, run.diagnosis.headline.find(cause.sentence) !=
                                 std::string::npos);
  }
  body += IncidentsHtml(run, step, rule_name);
  const std::string api = "/api/v1/runs/" + PercentEncode(run.key.run_id) +
                          "/attempts/" + std::to_string(run.key.attempt);
  body += "<nav><a href=\"/\">All runs</a><a href=\"" + api +
          "\">This run (JSON)</a><a href=\"" + api +
          "/steps\">Steps (JSON)</a></nav>\n";
  return HtmlPage(run.key.run_id + " - nanwatch", body);
}

std::optional<HttpReply> AnswerRunPage(const WebBackend& backend, Query query) {
  const std::optional<std::string> run_id = query.TakeText("run");
  if (!run_id) return std::nullopt;
  const Result<int64_t> attempt = query.Take("attempt", -1, 0, INT32_MAX);
  if (!attempt.ok()) return BadParameter(attempt.error());
  const Result<int64_t> step =
      query.Take("step", INT64_MIN, INT64_MIN, INT64_MAX);
  if (!step.ok()) return BadParameter(step.error());
  if (!query.Untaken().empty()) return UnknownParameter(query.Untaken());
  std::optional<int32_t> only;
  if (*attempt >= 0) only = static_cast<int32_t>(*attempt);
  std::shared_ptr<const RunView> run = backend.snapshot()->Find(*run_id, only);
  std::string why;
  if (run == nullptr && backend.past_run) {
    auto past = backend.past_run(*run_id, only);
    if (past.ok()) {
      run = *past;
    } else {
      why = past.error();
    }
  }
  if (run == nullptr) return NoRunPage(*run_id, why);
  std::optional<int64_t> marked;
  if (*step != INT64_MIN) marked = *step;
  return PageReply(200, RunPage(*run, marked, backend.rule_name));
}

}  // namespace nanwatch
