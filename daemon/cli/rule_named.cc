#include "cli/rule_named.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/style.h"
#include "config/spelling.h"

namespace nanwatch {
namespace {

std::optional<int> NumberOf(const std::string& said) {
  int number = 0;
  const char* const end = said.data() + said.size();
  const auto [at, error] = std::from_chars(said.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

}  // namespace

bool IsRuleNumber(const std::string& said) {
  return NumberOf(said).has_value();
}

const RuleSpec* RuleNamed(const std::string& said) {
  if (const std::optional<int> number = NumberOf(said)) {
    return FindRule(*number);
  }
  return FindRule(std::string_view(said));
}

std::string NoSuchRule(const std::string& said) {
  std::vector<std::string> names;
  for (const RuleSpec* rule : AllRules()) names.emplace_back(rule->name);
  const std::string near = Nearest(said, names);
  return fmt::format("there is no rule {}{}: `nanwatch explain` lists all",
                     Clean(said),
                     near.empty() ? "" : ", perhaps you mean " + near);
}

}  // namespace nanwatch
