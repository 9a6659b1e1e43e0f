// rules: what is looked for, and with which thresholds.

#include "detect/rules.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>

#include "cli/commands.h"

namespace nanwatch {
namespace {

// A sentence under a title, the lines after the first below it.
std::string Part(std::string_view title, std::string_view sentence,
                 const Style& style) {
  constexpr int kIndent = 11;
  const std::string text = Wrapped(sentence, kIndent, style.columns);
  return fmt::format("  {:<9}{}", title,
                     text.size() > kIndent ? text.substr(kIndent) : "\n");
}

std::string ThresholdLines(const RuleSpec& rule, const Style& style) {
  std::string out;
  for (const ThresholdSpec& threshold : rule.thresholds) {
    out += fmt::format("    {} = {} {}, from {} to {}\n",
                       style.Bold(threshold.name), Number(threshold.value),
                       threshold.unit, Number(threshold.min),
                       Number(threshold.max));
    if (!threshold.source.empty()) {
      out += style.Dim(Wrapped(threshold.source, 6, style.columns));
    }
  }
  return out;
}

std::string RuleText(const RuleSpec& rule, const Style& style) {
  return fmt::format("{:>2}  {}  {}\n", rule.number, style.Bold(rule.name),
                     style.Dim(Name(rule.family))) +
         Part("meaning", rule.meaning, style) +
         Part("fires", rule.trigger, style) +
         Part("clears", rule.clear, style) + ThresholdLines(rule, style);
}

}  // namespace

int ShowRules(const std::string& name, const Style& style) {
  if (!name.empty()) {
    const RuleSpec* rule = FindRule(name);
    if (rule == nullptr) {
      return Fail(fmt::format(
          "there is no rule {}: `nanwatch rules` lists all of them", name));
    }
    std::fputs(RuleText(*rule, style).c_str(), stdout);
    return 0;
  }
  std::string out;
  for (const RuleSpec* rule : AllRules()) {
    if (!out.empty()) out += '\n';
    out += RuleText(*rule, style);
  }
  std::fputs(out.c_str(), stdout);
  return 0;
}

}  // namespace nanwatch
