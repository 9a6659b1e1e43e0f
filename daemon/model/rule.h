// RuleSpec: what a detection rule says of itself; RulesInForce: the thresholds
// in force. Rules are data wherever they are not code, so that configuration,
// history, `explain` and the runbooks read the same table.

#ifndef NANWATCH_MODEL_RULE_H_
#define NANWATCH_MODEL_RULE_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/rule_id.h"
#include "model/severity.h"

namespace nanwatch {

struct ThresholdSpec {
  std::string_view name;  // e.g. "warning_ratio"
  double value;           // the default
  double min;             // inclusive range that configuration accepts
  double max;
  std::string_view unit;    // "updates", "ratio", "s", ...
  std::string_view source;  // where the default comes from
};

struct RuleSpec {
  RuleId id;
  std::string_view name;  // e.g. "scale_collapse"
  Family family;
  std::string_view meaning;  // a sentence
  std::string_view trigger;  // a sentence, naming thresholds
  std::string_view clear;    // a sentence
  std::span<const ThresholdSpec> thresholds;
  // Where the rule is not what the literature has, and why: sentences. Empty:
  // nowhere.
  std::string_view differs = {};
};

// The rules in force: every rule by name, with every threshold resolved, in the
// order of its RuleSpec. Kept in history whole (RulesLoaded).
struct RuleSettings {
  bool enabled = true;
  std::vector<double> thresholds;
  bool operator==(const RuleSettings&) const = default;
};
struct RulesInForce {
  std::map<std::string, RuleSettings> rules;
  bool operator==(const RulesInForce&) const = default;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RULE_H_
