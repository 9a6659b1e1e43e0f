#include "cli/rule_page.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "detect/all_rules.h"
#include "diagnose/causes.h"
#include "diagnose/first_look.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Between a heading of the second level and the next one.
std::string Section(const std::string& page, const std::string& title) {
  const size_t begin = page.find("\n## " + title);
  if (begin == std::string::npos) return "";
  const size_t text = page.find("\n\n", begin) + 2;
  const size_t end = page.find("\n## ", text);
  return page.substr(text, end == std::string::npos ? end : end - text);
}

TEST(RulePageTest, NoPageHasAnEmptyPart) {
  for (const RuleSpec* rule : AllRules()) {
    const std::string page = RulePageMarkdown(*rule);
    EXPECT_EQ(page.rfind("# " + std::string(rule->name) + "\n", 0), 0u);
    for (const char* title :
         {"Meaning", "Fires when", "Clears when", "What to do first"}) {
      // The shortest sentence: "The norm is not 0."
      EXPECT_GT(Section(page, title).size(), 15u) << rule->name << ' ' << title;
    }
    // Somebody did something about it. Data say for themselves what was done.
    if (rule->id == RuleId::kDataFromStart) continue;
    EXPECT_THAT(Section(page, "Causes, and what people"), HasSubstr("\n- "))
        << rule->name;
    EXPECT_THAT(page, Not(HasSubstr("\n\n\n"))) << rule->name;
  }
}

TEST(RulePageTest, WhereARuleDiffersStandsInBothForms) {
  constexpr char kTitle[] = "How it differs from the literature";
  for (const RuleSpec* rule : AllRules()) {
    const std::string text = RulePageText(*rule, {.columns = 10000});
    const std::string markdown = RulePageMarkdown(*rule);
    if (rule->differs.empty()) {
      EXPECT_THAT(text, Not(HasSubstr(kTitle))) << rule->name;
      EXPECT_THAT(markdown, Not(HasSubstr(kTitle))) << rule->name;
      continue;
    }
    EXPECT_EQ(Section(markdown, kTitle), std::string(rule->differs) + "\n");
    EXPECT_THAT(text, HasSubstr(std::string(rule->differs)));
    // Sentences: whole ones, a blank between words.
    EXPECT_EQ(rule->differs.back(), '.') << rule->name;
    EXPECT_THAT(rule->differs, Not(HasSubstr("  "))) << rule->name;
  }
  EXPECT_FALSE(FindRule("loss_spike")->differs.empty());
}

TEST(RulePageTest, EveryThresholdStandsInBothForms) {
  for (const RuleSpec* rule : AllRules()) {
    const std::string text = RulePageText(*rule, Style());
    const std::string markdown = RulePageMarkdown(*rule);
    for (const ThresholdSpec& t : rule->thresholds) {
      const std::string name(t.name);
      EXPECT_THAT(text, HasSubstr("  " + name + " = " + Number(t.value)));
      EXPECT_THAT(markdown, HasSubstr("| `" + name + "` | " + Number(t.value)));
      EXPECT_FALSE(t.source.empty()) << rule->name << '.' << name;
    }
  }
}

// A name is marked where it stands for a number, and nowhere else: "critical
// from `critical` on".
TEST(RulePageTest, NamesOfThresholdsAreMarkedInSentences) {
  const auto fires = [](const char* rule) {
    return Section(RulePageMarkdown(*FindRule(rule)), "Fires when");
  };
  EXPECT_THAT(fires("underflow_measured"),
              HasSubstr("a share of `warning` of the elements underflows; "
                        "critical from a share of `critical` on"));
  EXPECT_THAT(fires("scale_collapse"),
              HasSubstr("is `warning_ratio` times the scale"));
  EXPECT_THAT(fires("stalled"), Not(HasSubstr("`warning`")));
  for (const RuleSpec* rule : AllRules()) {
    for (const char* title : {"Fires when", "Clears when"}) {
      const std::string text = Section(RulePageMarkdown(*rule), title);
      EXPECT_EQ(std::count(text.begin(), text.end(), '`') % 2, 0) << rule->name;
      size_t begin = text.find('`');
      while (begin != std::string::npos) {
        const size_t end = text.find('`', begin + 1);
        const std::string name = text.substr(begin + 1, end - begin - 1);
        EXPECT_TRUE(
            std::any_of(rule->thresholds.begin(), rule->thresholds.end(),
                        [&](const ThresholdSpec& t) { return t.name == name; }))
            << rule->name << ": " << name;
        begin = text.find('`', end + 1);
      }
    }
  }
}

TEST(RulePageTest, AdviceIsForRulesThatExist) {
  for (int number = 0; number < static_cast<int>(kRuleIds); ++number) {
    const RuleId rule = RuleIdOf(number);
    EXPECT_EQ(FirstLook(rule).empty(), FindRule(rule) == nullptr) << number;
  }
  for (const CauseSpec& cause : AllCauses()) {
    for (const RuleId rule : cause.rules) {
      EXPECT_NE(FindRule(rule), nullptr)
          << Name(cause.cause) << ' ' << NumberOf(rule);
    }
  }
}

TEST(RulePageTest, BothFormsNameTheSameCausesAndActions) {
  const RuleSpec* rule = FindRule("scale_collapse");
  const std::string text = RulePageText(*rule, {.columns = 10000});
  const std::string markdown = RulePageMarkdown(*rule);
  for (const char* said :
       {"Collapse with underflow", "Range overflow", "Harmless padding",
        "a higher --min-loss-scale while only some updates overflow",
        "GradScaler has no floor: stop when scaler.get_scale() < 1."}) {
    EXPECT_THAT(text, HasSubstr(said));
    EXPECT_THAT(markdown, HasSubstr(said));
  }
  EXPECT_THAT(markdown, HasSubstr("### Collapse with underflow\n"));
  EXPECT_THAT(markdown, HasSubstr("- **megatron**: "));
}

TEST(RulePageTest, TheIndexHasEveryRule) {
  const std::string text = RuleIndexText(Style());
  const std::string markdown = RuleIndexMarkdown();
  for (const RuleSpec* rule : AllRules()) {
    const std::string name(rule->name);
    EXPECT_THAT(text, HasSubstr("  " + name + " "));
    EXPECT_THAT(markdown, HasSubstr("[" + name + "](" + name + ".md)"));
  }
}

TEST(RulePageTest, LinesFitTheTerminal) {
  Style style;
  style.columns = 72;
  for (const RuleSpec* rule : AllRules()) {
    const std::string page = RulePageText(*rule, style);
    size_t begin = 0;
    while (begin < page.size()) {
      const size_t end = page.find('\n', begin);
      // A word of its own may be longer.
      const std::string line = page.substr(begin, end - begin);
      if (line.find(" = ") == std::string::npos) {
        EXPECT_LE(line.size(), 80u) << line;
      }
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace nanwatch
