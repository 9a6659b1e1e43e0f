// The list of rules. Adding one: its own file, one line here, one scenario in
// tests/golden.

#ifndef NANWATCH_DETECT_RULES_H_
#define NANWATCH_DETECT_RULES_H_

#include <span>
#include <string_view>
#include <vector>

#include "detect/rule_list.h"
#include "detect/scale_at_floor.h"
#include "detect/scale_below_one.h"
#include "detect/scale_collapse.h"
#include "detect/scale_rank_mismatch.h"
#include "detect/scale_unrepresentable.h"
#include "detect/stalled.h"
#include "detect/weight_nonfinite.h"

namespace nanwatch {

// A (rank, optimizer).
using StepRules =
    RuleList<ScaleAtFloor, ScaleBelowOne, ScaleUnrepresentable, ScaleCollapse>;
// A (rank, op, slot), made on demand.
using OpRules = RuleList<WeightNonfinite>;
// An agreement group.
using AlignedRules = RuleList<ScaleRankMismatch>;
// A run.
using TimeRules = RuleList<Stalled>;

// Every rule, by number.
std::span<const RuleSpec* const> AllRules();
// Null: no such rule.
const RuleSpec* FindRule(int number);
const RuleSpec* FindRule(std::string_view name);

// Every rule with its defaults.
RuleSet DefaultRules();

// A RuleSet made ready for the four lists. Thresholds that the set lacks are
// the defaults (an older daemon wrote it); rules that do not exist are ignored.
class RuleTables {
 public:
  explicit RuleTables(const RuleSet& set);
  RuleTables(const RuleTables&) = delete;
  RuleTables& operator=(const RuleTables&) = delete;

  const StepRules::Table& step() const { return step_; }
  const OpRules::Table& op() const { return op_; }
  const AlignedRules::Table& aligned() const { return aligned_; }
  const TimeRules::Table& time() const { return time_; }

 private:
  template <typename List>
  void Fill(const RuleSet& set, typename List::Table* table);

  // The thresholds of every rule, one after another; the tables point into it.
  std::vector<double> values_;
  StepRules::Table step_;
  OpRules::Table op_;
  AlignedRules::Table aligned_;
  TimeRules::Table time_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RULES_H_
