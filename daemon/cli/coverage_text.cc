#include "cli/coverage_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/style.h"
#include "json/value.h"
#include "logs/column_names.h"

namespace nanwatch {
namespace {

// Of a number that is judged, before others of the line.
const LogCoverage::Example& Foremost(const LogCoverage& coverage) {
  ColumnNames names{ColumnMap{}};
  const auto judged =
      std::find_if(coverage.examples.begin(), coverage.examples.end(),
                   [&names](const LogCoverage::Example& example) {
                     return names.Of(example.name) != ColumnMeaning::kNothing;
                   });
  return judged == coverage.examples.end() ? coverage.examples.front()
                                           : *judged;
}

}  // namespace

std::string CoverageText(const LogCoverage& coverage) {
  if (coverage.unread == 0 || coverage.examples.empty()) return "";
  const LogCoverage::Example& example = Foremost(coverage);
  using Whole = LogCoverage::Example::Whole;
  if (example.whole != Whole::kNo) {
    return fmt::format("{} like {}, from line {} on, could not be read.",
                       Counted(coverage.unread, "line"),
                       example.whole == Whole::kAlike
                           ? "those that were read"
                           : "step lines, with a loss",
                       example.line);
  }
  const std::string what =
      example.name.empty() ? "a number" : "`" + example.name + "`";
  if (example.text.empty()) {
    return fmt::format(
        "{} {} nothing where {} was, from line {} on, and could not be read.",
        Counted(coverage.unread, "step line"),
        coverage.unread == 1 ? "has" : "have", what, example.line);
  }
  return fmt::format(
      "{} {} `{}` where {} was, from line {} on, and could not be read.",
      Counted(coverage.unread, "step line"),
      coverage.unread == 1 ? "has" : "have", example.text, what, example.line);
}

Json CoverageJson(const LogVerdict& verdict) {
  const LogCoverage& coverage = verdict.coverage;
  Json json = {{"lines", verdict.lines},
               {"step_lines", coverage.step_lines},
               {"read", coverage.read()},
               {"unread", coverage.unread},
               {"examples", Json::array()}};
  for (const LogCoverage::Example& example : coverage.examples) {
    json["examples"].push_back({{"line", example.line},
                                {"name", example.name},
                                {"text", example.text}});
  }
  return json;
}

}  // namespace nanwatch
