// IncidentId: which incident this is, the same after every replay.

#ifndef NANWATCH_ALERT_INCIDENT_ID_H_
#define NANWATCH_ALERT_INCIDENT_ID_H_

#include <cstdint>
#include <string_view>

#include "model/run.h"
#include "model/severity.h"

namespace nanwatch {

// Returns the id of an incident as it opens, from its first finding then; it
// stays, also when an earlier finding is heard of later. The rank is no part of
// it: of several ranks that find the same at one step, any may be heard first.
// Never 0, which means "the whole run" in an Annotation.
uint64_t IncidentId(const RunKey& run, Family family, std::string_view op,
                    int64_t opened_step);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_INCIDENT_ID_H_
