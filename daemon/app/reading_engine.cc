#include "app/reading_engine.h"

#include <utility>
#include <variant>

#include "detect/all_rules.h"

namespace nanwatch {

// Until the file says what held, the defaults do.
ReadingEngine::ReadingEngine() {
  Effects none;
  Event defaults;
  defaults.body = RulesLoaded{DefaultRules(), {}};
  Apply(Time{}, defaults, &none);
}

void ReadingEngine::Apply(Time now, const Event& event, Effects* effects) {
  if (!std::holds_alternative<RulesLoaded>(event.body)) {
    engine_.Apply(now, event, effects);
    return;
  }
  Event staying = event;
  std::get<RulesLoaded>(staying.body).engine.ended_run_leaves_after = kNever;
  engine_.Apply(now, staying, effects);
}

}  // namespace nanwatch
