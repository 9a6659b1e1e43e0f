// EngineOptions: what the engine's decisions hang on beside the thresholds of
// its rules. Kept in history whole (RulesLoaded), like them.

#ifndef NANWATCH_MODEL_ENGINE_OPTIONS_H_
#define NANWATCH_MODEL_ENGINE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/severity.h"

namespace nanwatch {

// Longer than any run: no setting is longer, and a sum of a time and this does
// not overflow.
inline constexpr Duration kNever = std::chrono::hours(24 * 366 * 100);

struct AlertPolicy {
  // A firing incident stays for so long, that Alertmanager's group_wait (30 s)
  // does not swallow it.
  Duration hold = std::chrono::seconds(45);
  // Resolved, then back within this: the same incident, re-opened.
  Duration reopen_within = std::chrono::minutes(15);
  // Re-opened so often, it flaps: from then on it must last `hold` before it
  // fires again.
  int32_t flaps_after = 3;
  bool operator==(const AlertPolicy&) const = default;
};

struct EngineOptions {
  AlertPolicy alert;
  Duration lost_run_closes_after = std::chrono::minutes(15);
  // kNever: it stays, as where a file is read. Changes no verdict.
  Duration ended_run_leaves_after = std::chrono::minutes(5);
  // Severities at which a run is asked to stop; none: never (the default).
  Severity stop_on = Severity::kNone;
  // Names of ops, with * and ? as in a shell, whose -infinity is meant:
  // attention masks that their type does not give away. At most
  // limits::kMaskedOps.
  std::vector<std::string> masked_ops;
  // False: the times of records say nothing, as those of a log without a clock.
  // Of seconds that pass between two events only the last is lived through.
  bool times_are_real = true;
  bool operator==(const EngineOptions&) const = default;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_ENGINE_OPTIONS_H_
