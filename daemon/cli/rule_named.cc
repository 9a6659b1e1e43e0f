#include "cli/rule_named.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/style.h"
#include "config/spelling.h"
#include "detect/all_rules.h"

namespace nanwatch {
namespace {

std::optional<int> SaidNumber(const std::string& said) {
  int number = 0;
  const char* const end = said.data() + said.size();
  const auto [at, error] = std::from_chars(said.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

// Of the survey of 57 that the numbers are of; why each has no rule.
struct Absent {
  int number;
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kNeedsAnother =
    "It compares a run with another that is known to be good, by more than the "
    "loss, which nothing here does while a run goes on.";
constexpr std::string_view kNeedsARepeat =
    "It runs the same computation again, on this device or another, which "
    "nothing here does yet.";

constexpr Absent kAbsent[] = {
    {23, "abnormal_overflow", kNeedsAnother},
    {37, "loss_oscillation",
     "It was left out: from one line of a healthy log to the next the loss "
     "moves by more than 3 % in 11 to 99 % of the cases, so it would cry wolf "
     "on most runs. What it is for, loss_spike (34) and loss_high_plateau (35) "
     "see."},
    {45, "bench_op_divergence", kNeedsAnother},
    {46, "bench_nan_excess", kNeedsAnother},
    {47, "nondeterminism", kNeedsARepeat},
    {48, "fault_class", kNeedsARepeat},
    {50, "fusion_suspect",
     "It compares a fused op with the same one in parts, which nothing here "
     "does yet."},
    {52, "config_mismatch", kNeedsAnother},
};

}  // namespace

bool IsRuleNumber(const std::string& said) {
  return SaidNumber(said).has_value();
}

const RuleSpec* RuleNamed(const std::string& said) {
  if (const std::optional<int> number = SaidNumber(said)) {
    return FindRule(RuleIdOf(*number));
  }
  return FindRule(std::string_view(said));
}

std::string WhyNoRule(const std::string& said) {
  const std::optional<int> number = SaidNumber(said);
  for (const Absent& absent : kAbsent) {
    if (absent.name != said && absent.number != number) continue;
    return fmt::format("There is no rule {}, {}. {}", absent.number,
                       absent.name, absent.why);
  }
  return "";
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
