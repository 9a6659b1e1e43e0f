#include <string>
#include <string_view>
#include <vector>

#include "config/quantity.h"
#include "config/sections.h"
#include "detect/all_rules.h"

namespace nanwatch {
namespace {

bool IsTime(const ThresholdSpec& spec) { return spec.unit == "s"; }

void ReadThreshold(YamlSection* section, const ThresholdSpec& spec,
                   double* value) {
  const std::string key(spec.name);
  // "900" and "15m" are the same where the unit is seconds.
  if (IsTime(spec)) {
    const std::string text = section->Peek(key);
    if (const auto time = ParseDuration(text)) {
      const double seconds = ToSeconds(*time);
      std::string taken;
      section->Text(key, &taken);
      if (seconds >= spec.min && seconds <= spec.max) {
        *value = seconds;
      } else {
        section->Complain(key, " is '" + text + "'; it must be a time from " +
                                   ShowNumber(spec.min) + "s to " +
                                   ShowNumber(spec.max) + "s.");
      }
      return;
    }
  }
  section->Number(key, spec.min, spec.max, value);
}

// "warning_ratio", "critical_ratio" and "clear_ratio" are of one quantity.
std::string_view QuantityOf(std::string_view name) {
  for (const std::string_view prefix : {"warning_", "critical_", "clear_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// Of two thresholds of one quantity the defaults say which is the larger: the
// other way round a rule would be critical before it warns, or clear while it
// fires.
void CheckOrder(YamlSection* section, const RuleSpec& spec,
                const std::vector<double>& values) {
  const auto thresholds = spec.thresholds;
  for (size_t a = 0; a < thresholds.size(); ++a) {
    for (size_t b = a + 1; b < thresholds.size(); ++b) {
      const ThresholdSpec& one = thresholds[a];
      const ThresholdSpec& other = thresholds[b];
      if (QuantityOf(one.name) != QuantityOf(other.name) ||
          one.value == other.value) {
        continue;
      }
      const bool rises = one.value < other.value;
      if (rises ? values[a] <= values[b] : values[a] >= values[b]) continue;
      // Told where somebody wrote it.
      const bool of_one = section->Peek(std::string(other.name)).empty();
      const size_t told = of_one ? a : b;
      const size_t held = of_one ? b : a;
      section->Complain(std::string(thresholds[told].name),
                        " is " + ShowNumber(values[told]) +
                            "; it must not be " +
                            (rises == of_one ? "above " : "below ") +
                            std::string(thresholds[held].name) + ", which is " +
                            ShowNumber(values[held]) + ".");
    }
  }
}

}  // namespace

void ReadRules(YamlSection section, RulesInForce* rules) {
  for (const RuleSpec* spec : AllRules()) {
    RuleSettings& settings = rules->rules[std::string(spec->name)];
    YamlSection rule = section.Section(std::string(spec->name));
    rule.Flag("enabled", &settings.enabled);
    for (size_t i = 0; i < spec->thresholds.size(); ++i) {
      ReadThreshold(&rule, spec->thresholds[i], &settings.thresholds[i]);
    }
    CheckOrder(&rule, *spec, settings.thresholds);
    rule.Finish();
  }
  section.Finish();
}

}  // namespace nanwatch
