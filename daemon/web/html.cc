#include "web/html.h"

namespace nanwatch {

std::string HtmlEscaped(std::string_view text) {
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

std::string HtmlPage(std::string_view title, std::string_view body) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>";
  html += HtmlEscaped(title);
  html +=
      "</title><link rel=\"stylesheet\" href=\"/style.css\"></head><body>\n";
  html += body;
  return html + "</body></html>\n";
}

Severity ShownSeverity(const RunView& run) {
  return run.state == LifeState::kClosed ? WorstEver(run) : run.severity;
}

std::string_view SeverityWord(Severity severity) {
  return severity == Severity::kNone ? "healthy" : Name(severity);
}

const std::string_view kStyleSheet = R"(:root { color-scheme: light dark;
        --warning: #a05a00; --critical: #c62828; }
@media (prefers-color-scheme: dark) {
  :root { --warning: #ffb74d; --critical: #ff8a80; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
       max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; font-weight: 600; margin-top: 1.8rem; }
li { margin: .2rem 0; max-width: 55rem; }
p { max-width: 60rem; }
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
.named td { background: #8882; }
@media (max-width: 45rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid #8884; }
  td { display: inline-block; padding: 0 .6rem 0 0; border: 0; }
  .run, .why { display: block; width: auto; }
  td.number::before { content: "step "; opacity: .7; }
  .run + td.number::before { content: "attempt "; }
}
)";

}  // namespace nanwatch
