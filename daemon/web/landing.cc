#include "web/landing.h"

#include <algorithm>
#include <vector>

namespace nanwatch {
namespace {

constexpr size_t kRunsShown = 200;

std::string Escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri;
  for (const unsigned char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                       c == '.';
    if (plain) {
      uri += static_cast<char>(c);
    } else {
      uri += '%';
      uri += kHex[c / 16];
      uri += kHex[c % 16];
    }
  }
  return uri;
}

// One that has ended is as bad as it ever was, since everything is resolved
// then.
Severity Shown(const RunView& run) {
  return run.state == LifeState::kClosed ? WorstEver(run) : run.severity;
}

std::string Cell(std::string_view kind, const std::string& html) {
  return "<td class=\"" + std::string(kind) + "\">" + html + "</td>";
}

std::string RunRowHtml(const RunView& run) {
  const Severity shown = Shown(run);
  const std::string severity(Name(shown));
  const std::string uri = "/api/v1/runs/" + PercentEncoded(run.key.run_id) +
                          "/attempts/" + std::to_string(run.key.attempt);
  return "<tr class=\"" + severity + "\">" +
         Cell("run",
              "<a href=\"" + uri + "\">" + Escaped(run.key.run_id) + "</a>") +
         Cell("number", std::to_string(run.key.attempt)) +
         Cell("job", Escaped(run.description.job)) +
         Cell("state", std::string(Name(run.state))) +
         Cell("number", std::to_string(run.last_step)) +
         Cell("verdict", shown == Severity::kNone ? "healthy" : severity) +
         Cell("why", Escaped(run.diagnosis.headline)) + "</tr>\n";
}

std::string RunsHtml(const Snapshot& snapshot) {
  std::vector<const RunView*> runs;
  snapshot.runs.ForEach([&](const RunView& run) { runs.push_back(&run); });
  if (runs.empty()) {
    return "<p>No run has reported yet. Point a training at this daemon and "
           "reload.</p>\n";
  }
  std::stable_sort(
      runs.begin(), runs.end(),
      [](const RunView* a, const RunView* b) { return Shown(*a) > Shown(*b); });
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

const std::string_view kStyleSheet = R"(:root { color-scheme: light dark;
        --warning: #a05a00; --critical: #c62828; }
@media (prefers-color-scheme: dark) {
  :root { --warning: #ffb74d; --critical: #ff8a80; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
       max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; vertical-align: top;
         border-bottom: 1px solid #8884; white-space: nowrap; }
th { font-weight: 500; opacity: .7; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.run, .job { white-space: normal; overflow-wrap: anywhere; }
.run { min-width: 13rem; }
.why { white-space: normal; width: 50%; }
th:first-child, .run { padding-left: 0; }
.warning .verdict { color: var(--warning); }
.critical .verdict { color: var(--critical); font-weight: 600; }
nav { margin-top: 1.5rem; }
nav a { margin-right: 1rem; }
.note { opacity: .7; }
@media (max-width: 45rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid #8884; }
  td { display: inline-block; padding: 0 .6rem 0 0; border: 0; }
  .run, .why { display: block; width: auto; }
  td.number::before { content: "step "; opacity: .7; }
  .run + td.number::before { content: "attempt "; }
}
)";

std::string LandingPage(const Snapshot& snapshot, std::string_view version,
                        std::string_view not_ready) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<title>nanwatch</title>"
      "<link rel=\"stylesheet\" href=\"/style.css\"></head><body>\n"
      "<h1>nanwatch</h1>\n";
  if (!not_ready.empty()) {
    html += "<p>Not ready: " + Escaped(not_ready) + "</p>\n";
  }
  html += RunsHtml(snapshot);
  html +=
      "<nav><a href=\"/metrics\">Metrics</a>"
      "<a href=\"/api/v1/runs\">Runs (JSON)</a>"
      "<a href=\"/api/v1/status\">Status (JSON)</a>"
      "<a href=\"/-/ready\">Ready</a></nav>\n<p class=\"note\">" +
      Escaped(version) + "</p>\n</body></html>\n";
  return html;
}

}  // namespace nanwatch
