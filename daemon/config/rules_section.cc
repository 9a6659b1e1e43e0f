#include <string>

#include "config/quantity.h"
#include "config/sections.h"
#include "detect/rules.h"

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

}  // namespace

void ReadRules(YamlSection section, RuleSet* rules) {
  for (const RuleSpec* spec : AllRules()) {
    RuleSettings& settings = rules->rules[std::string(spec->name)];
    YamlSection rule = section.Section(std::string(spec->name));
    rule.Flag("enabled", &settings.enabled);
    for (size_t i = 0; i < spec->thresholds.size(); ++i) {
      ReadThreshold(&rule, spec->thresholds[i], &settings.thresholds[i]);
    }
    rule.Finish();
  }
  section.Finish();
}

}  // namespace nanwatch
