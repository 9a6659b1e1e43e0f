// RuleThresholds: the thresholds in force, by rule and name. Who needs a
// threshold of a rule reads it here: its RuleSpec is its only home.

#ifndef NANWATCH_MODEL_RULE_THRESHOLDS_H_
#define NANWATCH_MODEL_RULE_THRESHOLDS_H_

#include <array>
#include <string_view>

#include "base/check.h"
#include "model/rule.h"
#include "model/rule_id.h"

namespace nanwatch {

class RuleThresholds {
 public:
  // Sets the rule's `values`, one for each of the spec's thresholds. Both
  // outlive this.
  void Set(const RuleSpec& spec, const double* values) {
    of_[Index(spec.id)] = {&spec, values};
  }

  // Returns the value in force. REQUIRES: the rule has a threshold of this
  // name.
  double Get(RuleId rule, std::string_view name) const {
    const Of& of = of_[Index(rule)];
    CHECK(of.spec != nullptr);
    size_t i = 0;
    while (i < of.spec->thresholds.size() &&
           of.spec->thresholds[i].name != name) {
      ++i;
    }
    CHECK(i < of.spec->thresholds.size());
    return of.values[i];
  }

 private:
  struct Of {
    const RuleSpec* spec = nullptr;
    const double* values = nullptr;
  };
  static size_t Index(RuleId rule) {
    return static_cast<size_t>(rule) % kRuleIds;
  }
  std::array<Of, kRuleIds> of_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RULE_THRESHOLDS_H_
