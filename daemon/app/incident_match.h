// MatchIncidents: which incidents of two verdicts on the same recording are the
// same trouble, so that what a change of thresholds did can be said.

#ifndef NANWATCH_APP_INCIDENT_MATCH_H_
#define NANWATCH_APP_INCIDENT_MATCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/incident.h"
#include "model/run.h"

namespace nanwatch {

struct ToldIncident {
  RunKey run;
  // As it stands at the end, with the findings that it was last told with.
  Incident incident;
  int64_t told_step = 0;  // the newest step that was judged when it first fired
};

// One of them is null: it appeared, or vanished.
struct IncidentPair {
  const ToldIncident* before = nullptr;
  const ToldIncident* after = nullptr;
};

// Two incidents of one run attempt are the same trouble when they overlap in
// steps, or stand at most kSameTrouble apart, and are of the same rule and
// subject; of what is left, of the same family and subject; of what is left, of
// the same family. The nearest beginnings come first. Ordered by run and step.
inline constexpr int64_t kSameTrouble = 50;  // steps
std::vector<IncidentPair> MatchIncidents(std::span<const ToldIncident> before,
                                         std::span<const ToldIncident> after);

}  // namespace nanwatch

#endif  // NANWATCH_APP_INCIDENT_MATCH_H_
