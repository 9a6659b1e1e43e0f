#include "model/health.h"

namespace nanwatch {
namespace {

std::string Word(Severity severity) {
  return severity == Severity::kNone ? "healthy" : std::string(Name(severity));
}

}  // namespace

Health HealthOf(const RunView& run) {
  const Severity worst = WorstEver(run);
  Health health{run.severity, {}};
  if (run.state == LifeState::kClosed) {
    const bool healed = run.diagnosis.condition == Condition::kHealed;
    health.severity = healed ? Severity::kNone : worst;
  }
  health.words = Word(health.severity);
  if (health.severity < Severity::kWarning && worst >= Severity::kWarning) {
    health.words += ", was " + Word(worst);
  }
  return health;
}

Health HealthOfEnded(Severity worst) {
  const bool sick = worst >= Severity::kWarning;
  return {worst, (sick ? "was " : "") + Word(worst)};
}

}  // namespace nanwatch
