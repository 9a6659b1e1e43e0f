#include "web/landing.h"

#include <algorithm>
#include <vector>

#include "web/html.h"
#include "web/uri.h"

namespace nanwatch {
namespace {

constexpr size_t kRunsShown = 200;

std::string Cell(std::string_view kind, const std::string& html) {
  return "<td class=\"" + std::string(kind) + "\">" + html + "</td>";
}

std::string RunRowHtml(const RunView& run) {
  const Severity shown = ShownSeverity(run);
  const std::string severity(Name(shown));
  const std::string uri = "/?run=" + PercentEncode(run.key.run_id) +
                          "&amp;attempt=" + std::to_string(run.key.attempt);
  return "<tr class=\"" + severity + "\">" +
         Cell("run", "<a href=\"" + uri + "\">" + HtmlEscaped(run.key.run_id) +
                         "</a>") +
         Cell("number", std::to_string(run.key.attempt)) +
         Cell("job", HtmlEscaped(run.description.job)) +
         Cell("state", std::string(Name(run.state))) +
         Cell("number", std::to_string(run.last_step)) +
         Cell("verdict", std::string(SeverityWord(shown))) +
         Cell("why", HtmlEscaped(run.diagnosis.headline)) + "</tr>\n";
}

std::string RunsHtml(const Snapshot& snapshot) {
  std::vector<const RunView*> runs;
  snapshot.runs.ForEach([&](const RunView& run) { runs.push_back(&run); });
  if (runs.empty()) {
    return "<p>No run has reported yet. Point a training at this daemon and "
           "reload.</p>\n";
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunView* a, const RunView* b) {
                     return ShownSeverity(*a) > ShownSeverity(*b);
                   });
  std::string html =
      "<table>\n<thead><tr><th>Run</th><th class=\"number\">Attempt</th>"
      "<th>Job</th><th>State</th><th class=\"number\">Step</th>"
      "<th>Verdict</th><th>Why</th></tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < std::min(kRunsShown, runs.size()); ++i) {
    html += RunRowHtml(*runs[i]);
  }
  html += "</tbody></table>\n";
  if (runs.size() > kRunsShown) {
    html += "<p>" + std::to_string(runs.size() - kRunsShown) +
            " more: see <a href=\"/api/v1/runs\">/api/v1/runs</a>.</p>\n";
  }
  return html;
}

}  // namespace

std::string LandingPage(const Snapshot& snapshot, std::string_view version,
                        std::string_view not_ready) {
  std::string body = "<h1>nanwatch</h1>\n";
  if (!not_ready.empty()) {
    body += "<p>Not ready: " + HtmlEscaped(not_ready) + "</p>\n";
  }
  body += RunsHtml(snapshot);
  body +=
      "<nav><a href=\"/metrics\">Metrics</a>"
      "<a href=\"/api/v1/runs\">Runs (JSON)</a>"
      "<a href=\"/api/v1/status\">Status (JSON)</a>"
      "<a href=\"/-/ready\">Ready</a></nav>\n<p class=\"note\">" +
      HtmlEscaped(version) + "</p>\n";
  return HtmlPage("nanwatch", body);
}

}  // namespace nanwatch
