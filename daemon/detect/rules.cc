#include "detect/rules.h"

#include <algorithm>
#include <string>

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

RuleTables::RuleTables(const RulesInForce& set) {
  size_t count = 0;
  for (const RuleSpec* spec : ByNumber()) count += spec->thresholds.size();
  values_.reserve(count);  // pointers into it stay
  Fill<StepRules>(set, &step_);
  Fill<OpRules>(set, &op_);
  Fill<AlignedRules>(set, &aligned_);
  Fill<TimeRules>(set, &time_);
  Fill<LayerRules>(set, &layers_);
}

template <typename List>
void RuleTables::Fill(const RulesInForce& set, typename List::Table* table) {
  const auto specs = List::Specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto found = set.rules.find(std::string(specs[i]->name));
    const RuleSettings* settings =
        found == set.rules.end() ? nullptr : &found->second;
    table->enabled[i] = settings == nullptr || settings->enabled;
    table->thresholds[i].values = values_.data() + values_.size();
    in_force_.Set(*specs[i], table->thresholds[i].values);
    for (size_t k = 0; k < specs[i]->thresholds.size(); ++k) {
      const bool given = settings != nullptr && k < settings->thresholds.size();
      values_.push_back(given ? settings->thresholds[k]
                              : specs[i]->thresholds[k].value);
    }
  }
}

}  // namespace nanwatch
