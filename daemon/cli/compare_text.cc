// What `compare` says to people.

#include <spdlog/fmt/fmt.h>

#include <string>

#include "app/comparison_words.h"
#include "cli/compare.h"

namespace nanwatch {

std::string ComparisonText(const ComparedSide& a, const ComparedSide& b,
                           const Comparison& comparison, const Style& style) {
  const ComparisonWords words = WordsOf(comparison);
  const Severity severity = SeverityOf(comparison);
  const std::string lead = !comparison.comparable() ? "NOTHING TO COMPARE"
                           : severity == Severity::kCritical ? "DIFFERS"
                           : severity == Severity::kWarning  ? "WARNING"
                                                             : "AGREES";
  const auto line = [&style](const std::string& text) {
    return text.empty() ? text : Wrapped(text, 2, style.columns);
  };
  std::string out = style.Bold(lead) + "\n" + line(words.headline);
  if (comparison.first) {
    out += line("Class: " + std::string(Name(comparison.first->kind)) + ".");
  }
  out += line(fmt::format("A: {}. B: {}.", a.name, b.name));
  out += line(words.settings) + line(words.loss);
  for (const std::string& sentence : words.tensors) out += line(sentence);
  for (const ComparedSide* side : {&a, &b}) {
    if (!side->complaint.empty()) {
      out += line(side->name + ": " + side->complaint);
    }
  }
  if (!words.what_to_do.empty()) out += line("What to do: " + words.what_to_do);
  return out;
}

}  // namespace nanwatch
