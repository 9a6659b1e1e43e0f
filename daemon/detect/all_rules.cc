#include "detect/all_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "detect/rules.h"

namespace nanwatch {
namespace {

template <typename List>
void AddSpecs(std::vector<const RuleSpec*>* to) {
  for (const RuleSpec* spec : List::Specs()) to->push_back(spec);
}

const std::vector<const RuleSpec*>& ByNumber() {
  static const std::vector<const RuleSpec*>* const rules = [] {
    auto* all = new std::vector<const RuleSpec*>;
    AddSpecs<StepRules>(all);
    AddSpecs<OpRules>(all);
    AddSpecs<AlignedRules>(all);
    AddSpecs<TimeRules>(all);
    AddSpecs<LayerRules>(all);
    AddSpecs<BenchRules>(all);
    std::sort(all->begin(), all->end(),
              [](const auto* a, const auto* b) { return a->id < b->id; });
    return all;
  }();
  return *rules;
}

}  // namespace

std::span<const RuleSpec* const> AllRules() { return ByNumber(); }

const RuleSpec* FindRule(RuleId id) {
  for (const RuleSpec* spec : ByNumber()) {
    if (spec->id == id) return spec;
  }
  return nullptr;
}

const RuleSpec* FindRule(std::string_view name) {
  for (const RuleSpec* spec : ByNumber()) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

RulesInForce DefaultRules() {
  RulesInForce set;
  for (const RuleSpec* spec : ByNumber()) {
    RuleSettings& settings = set.rules[std::string(spec->name)];
    for (const ThresholdSpec& threshold : spec->thresholds) {
      settings.thresholds.push_back(threshold.value);
    }
  }
  return set;
}

}  // namespace nanwatch
