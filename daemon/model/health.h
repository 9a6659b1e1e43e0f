// Health: what a run is called, the same in lists, in commands and on the page.

#ifndef NANWATCH_MODEL_HEALTH_H_
#define NANWATCH_MODEL_HEALTH_H_

#include <string>

#include "model/severity.h"
#include "model/snapshot.h"

namespace nanwatch {

struct Health {
  Severity severity = Severity::kNone;  // by which it is coloured and sorted
  // "healthy", "info", "warning", "critical"; of what is over "healthy, was
  // critical", and of a run that is not judged again "was critical".
  std::string words;
};

// Returns what fires now, where the run goes on. Of one that ended, the worst
// that it ever was, unless its condition says that this had gone before the
// end.
Health HealthOf(const RunView& run);
// Returns that of an ended run that only the history knows: `worst` is of all
// that fired.
Health HealthOfEnded(Severity worst);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_HEALTH_H_
