// What the pages have in common.

#ifndef NANWATCH_WEB_HTML_H_
#define NANWATCH_WEB_HTML_H_

#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace nanwatch {

// For text and for the values of attributes.
std::string HtmlEscaped(std::string_view text);
// A whole document. `title` is text and escaped here; `body` is HTML.
std::string HtmlPage(std::string_view title, std::string_view body);
// How bad a run is shown: one that has ended is as bad as it ever was, since
// everything is resolved then.
Severity ShownSeverity(const RunView& run);
// "healthy", "info", "warning", "critical".
std::string_view SeverityWord(Severity severity);
extern const std::string_view kStyleSheet;

}  // namespace nanwatch

#endif  // NANWATCH_WEB_HTML_H_
