#include "cli/rule_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/cause_text.h"
#include "detect/all_rules.h"
#include "diagnose/actions.h"
#include "diagnose/causes.h"
#include "diagnose/first_look.h"

namespace nanwatch {
namespace {

// What both forms of a page say, in their order.
struct PageCause {
  std::string title;
  std::string meaning;
  std::vector<Action> actions;
};
struct Page {
  std::vector<std::pair<std::string, std::string>> parts;  // title, sentences
  std::vector<PageCause> causes;
};

// Names of thresholds stand in backticks: where the sentence has none itself,
// since each such word is a name there, they are put in.
std::string Marked(std::string_view sentence, const RuleSpec& rule) {
  if (sentence.find('`') != std::string_view::npos) {
    return std::string(sentence);
  }
  const auto in_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::string out;
  while (!sentence.empty()) {
    const auto end = static_cast<size_t>(
        std::find_if_not(sentence.begin(), sentence.end(), in_name) -
        sentence.begin());
    const std::string_view word = sentence.substr(0, end);
    const bool name = std::any_of(
        rule.thresholds.begin(), rule.thresholds.end(),
        [&](const ThresholdSpec& threshold) { return threshold.name == word; });
    out += name ? fmt::format("`{}`", word) : std::string(word);
    sentence.remove_prefix(end);
    if (sentence.empty()) break;
    out += sentence.front();
    sentence.remove_prefix(1);
  }
  return out;
}

Page RulePageOf(const RuleSpec& rule) {
  Page page;
  page.parts = {{"Meaning", std::string(rule.meaning)},
                {"Fires when", Marked(rule.trigger, rule)},
                {"Clears when", Marked(rule.clear, rule)},
                {"What to do first", std::string(FirstLook(rule.id))}};
  if (!rule.differs.empty()) {
    page.parts.emplace_back("How it differs from the literature", rule.differs);
  }
  for (const CauseSpec& cause : AllCauses()) {
    if (!cause.rules.has(rule.id)) continue;
    page.causes.push_back({Title(Name(cause.cause)), std::string(cause.meaning),
                           ActionsFor(cause.cause, {}, "")});
  }
  return page;
}

// The configuration that sets the rule as it is.
std::string Configuration(const RuleSpec& rule) {
  std::string out = fmt::format("{}: {{enabled: true", rule.name);
  for (const ThresholdSpec& threshold : rule.thresholds) {
    out += fmt::format(", {}: {}", threshold.name, Number(threshold.value));
  }
  return out + "}";
}

std::string Range(const ThresholdSpec& threshold) {
  return fmt::format("{} to {}", Number(threshold.min), Number(threshold.max));
}

std::string ThresholdLines(const RuleSpec& rule, const Style& style) {
  std::string out;
  for (const ThresholdSpec& threshold : rule.thresholds) {
    out +=
        fmt::format("  {} = {} {}, {}\n", style.Bold(threshold.name),
                    Number(threshold.value), threshold.unit, Range(threshold));
    if (!threshold.source.empty()) {
      out += style.Dim(Wrapped(threshold.source, 6, style.columns));
    }
  }
  return out;
}

// A cell of a table: a bar would end it.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string ThresholdTable(const RuleSpec& rule) {
  std::string out =
      "| threshold | default | range | unit | source |\n"
      "|---|---|---|---|---|\n";
  for (const ThresholdSpec& t : rule.thresholds) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", t.name,
                       Number(t.value), Range(t), Cell(t.unit), Cell(t.source));
  }
  return out;
}

// In the order in which a person meets them: the table of rules.
constexpr Family kFamilyOrder[] = {
    Family::kScale, Family::kLoss,      Family::kWeight,
    Family::kOp,    Family::kGradient,  Family::kFp8,
    Family::kRank,  Family::kBenchmark, Family::kTelemetry};

}  // namespace

std::string RulePageText(const RuleSpec& rule, const Style& style) {
  const Page page = RulePageOf(rule);
  std::string out =
      fmt::format("{}  {}\n", style.Bold(rule.name),
                  style.Dim(fmt::format("rule {}, family {}", NumberOf(rule.id),
                                        Name(rule.family))));
  for (const auto& [title, sentences] : page.parts) {
    out +=
        '\n' + style.Bold(title) + '\n' + Wrapped(sentences, 2, style.columns);
  }
  if (!rule.thresholds.empty()) {
    out += '\n' + style.Bold("Thresholds") + '\n' + ThresholdLines(rule, style);
  }
  if (!page.causes.empty()) {
    out += '\n' + style.Bold("Causes, and what people do about them") + '\n';
  }
  for (const PageCause& cause : page.causes) {
    out += Wrapped(cause.title + ": " + cause.meaning, 2, style.columns);
    for (const Action& action : cause.actions) {
      const std::string line =
          action.framework.empty()
              ? action.sentence
              : fmt::format("{}: {}", action.framework, action.sentence);
      out += "    -" + Wrapped(line, 6, style.columns).substr(5);
    }
  }
  return out + '\n' + style.Bold("In the configuration, under rules") + '\n' +
         Wrapped(Configuration(rule), 2, style.columns);
}

std::string RulePageMarkdown(const RuleSpec& rule) {
  const Page page = RulePageOf(rule);
  std::string out = fmt::format("# {}\n\nRule {}, family {}.\n", rule.name,
                                NumberOf(rule.id), Name(rule.family));
  for (const auto& [title, sentences] : page.parts) {
    out += fmt::format("\n## {}\n\n{}\n", title, sentences);
  }
  if (!rule.thresholds.empty()) {
    out += "\n## Thresholds\n\n" + ThresholdTable(rule);
  }
  if (!page.causes.empty()) {
    out += "\n## Causes, and what people do about them\n";
  }
  for (const PageCause& cause : page.causes) {
    out += fmt::format("\n### {}\n\n{}\n\n", cause.title, cause.meaning);
    for (const Action& action : cause.actions) {
      out += action.framework.empty()
                 ? fmt::format("- {}\n", action.sentence)
                 : fmt::format("- **{}**: {}\n", action.framework,
                               action.sentence);
    }
  }
  return out + fmt::format(
                   "\n## In the configuration\n\n```yaml\nrules:\n  {}\n```\n",
                   Configuration(rule));
}

std::string RuleIndexText(const Style& style) {
  std::string out;
  for (const Family family : kFamilyOrder) {
    if (!out.empty()) out += '\n';
    out += style.Bold(Name(family)) + '\n';
    for (const RuleSpec* rule : AllRules()) {
      if (rule->family != family) continue;
      constexpr int kIndent = 35;
      out += fmt::format(
          "  {:>2}  {:<28} {}", NumberOf(rule->id), rule->name,
          Wrapped(rule->meaning, kIndent, style.columns).substr(kIndent));
    }
  }
  return out;
}

std::string RuleIndexMarkdown() {
  std::string out =
      "# Rules\n\n| rule | name | family | meaning |\n"
      "|---|---|---|---|\n";
  for (const RuleSpec* rule : AllRules()) {
    out += fmt::format("| {} | [{}]({}.md) | {} | {} |\n", NumberOf(rule->id),
                       rule->name, rule->name, Name(rule->family),
                       Cell(rule->meaning));
  }
  return out;
}

}  // namespace nanwatch
