// explain: the pages of the rules.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/commands.h"
#include "cli/rule_named.h"
#include "cli/rule_page.h"
#include "detect/all_rules.h"

namespace nanwatch {
namespace {

bool WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return !file.fail();
}

int WritePages(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(folder + ": " + error.message());
  const std::filesystem::path root(folder);
  size_t pages = 0;
  for (const RuleSpec* rule : AllRules()) {
    const auto path = root / (std::string(rule->name) + ".md");
    if (!WriteFile(path, RulePageMarkdown(*rule))) {
      return Fail(path.string() + ": cannot be written");
    }
    ++pages;
  }
  if (!WriteFile(root / "README.md", RuleIndexMarkdown())) {
    return Fail((root / "README.md").string() + ": cannot be written");
  }
  std::printf("%zu pages and README.md in %s\n", pages, folder.c_str());
  return 0;
}

}  // namespace

int ExplainRules(const ExplainOptions& options, const Style& style) {
  if (!options.pages.empty()) return WritePages(options.pages);
  std::string text;
  if (options.rule.empty()) {
    text = options.markdown ? RuleIndexMarkdown() : RuleIndexText(style);
  } else {
    const RuleSpec* rule = RuleNamed(options.rule);
    if (rule == nullptr) {
      const std::string why = WhyNoRule(options.rule);
      if (why.empty()) return Fail(NoSuchRule(options.rule), kExitUsage);
      std::fputs(Wrapped(why, 0, style.columns).c_str(), stdout);
      return 0;
    }
    text =
        options.markdown ? RulePageMarkdown(*rule) : RulePageText(*rule, style);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace nanwatch
