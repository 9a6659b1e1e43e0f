#include "detect/rules.h"

#include <string>

#include "detect/all_rules.h"
#include "detect/float_log2.h"

namespace nanwatch {
namespace {

// Returns the table of some of StepRules.
template <typename... Rules>
RuleTable<sizeof...(Rules)> Some(const StepRules::Table& all,
                                 const RuleList<Rules...>*) {
  RuleTable<sizeof...(Rules)> some{
      .thresholds = {all.thresholds[StepRules::IndexOf<Rules>()]...}};
  size_t at = 0;
  (some.enabled.set(at++, all.enabled[StepRules::IndexOf<Rules>()]), ...);
  return some;
}

}  // namespace

RuleTables::RuleTables(const RulesInForce& set) {
  size_t count = 0;
  for (const RuleSpec* spec : AllRules()) count += spec->thresholds.size();
  values_.reserve(count);  // pointers into them stay
  logs_.reserve(count);
  Fill<StepRules>(set, &step_);
  Fill<OpRules>(set, &op_);
  Fill<AlignedRules>(set, &aligned_);
  Fill<TimeRules>(set, &time_);
  Fill<LayerRules>(set, &layers_);
  layer_moves_ = Some(step_, static_cast<const LayerMoveRules*>(nullptr));
  Fill<BenchRules>(set, &bench_);
}

template <typename List>
void RuleTables::Fill(const RulesInForce& set, typename List::Table* table) {
  const auto specs = List::Specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto found = set.rules.find(std::string(specs[i]->name));
    const RuleSettings* settings =
        found == set.rules.end() ? nullptr : &found->second;
    table->enabled[i] = settings == nullptr || settings->enabled;
    table->thresholds[i] = {.values = values_.data() + values_.size(),
                            .logs = logs_.data() + logs_.size()};
    in_force_.Set(*specs[i], table->thresholds[i].values);
    for (size_t k = 0; k < specs[i]->thresholds.size(); ++k) {
      const bool given = settings != nullptr && k < settings->thresholds.size();
      values_.push_back(given ? settings->thresholds[k]
                              : specs[i]->thresholds[k].value);
      logs_.push_back(LnOf(values_.back()));
    }
  }
}

}  // namespace nanwatch
