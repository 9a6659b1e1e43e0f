// What a program's word that it cannot go on means where no finding shows it.

#ifndef NANWATCH_ENGINE_GIVEN_UP_H_
#define NANWATCH_ENGINE_GIVEN_UP_H_

#include "model/diagnosis.h"
#include "model/incident.h"
#include "model/records_ended.h"
#include "model/run.h"

namespace nanwatch {

// Returns the incident that its word alone is, at `step`: critical, and of the
// rule that would have found it. The book gives it an id and its times.
Incident IncidentOfWord(const GaveUp& gave_up, int64_t step);
// Returns why, and what to do.
Diagnosis DiagnosisOfWord(const GaveUp& gave_up, int64_t step,
                          const RunDescription& run);

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_GIVEN_UP_H_
