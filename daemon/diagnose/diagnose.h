// Diagnose: from what is found and what was measured to why, and what to do.

#ifndef NANWATCH_DIAGNOSE_DIAGNOSE_H_
#define NANWATCH_DIAGNOSE_DIAGNOSE_H_

#include <span>

#include "diagnose/evidence.h"
#include "model/diagnosis.h"
#include "model/finding.h"
#include "model/run.h"

namespace nanwatch {

// Writes sentences: for when findings or evidence changed, not for each record.
// `findings`: those whose severity is not kNone now, raw (before any ceiling).
// Deterministic; no cause is claimed as established that the evidence does not
// exclude the alternatives of. Sentences give numbers and names, not
// adjectives.
Diagnosis Diagnose(const RunDescription& run, const RunEvidence& evidence,
                   std::span<const Finding> findings);

// The finding's severity under the ceiling of the first cause that explains it,
// if any. By finding, not by rule: another op stays as severe as it is.
Severity UnderCeiling(const Diagnosis& diagnosis, const Finding& finding);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_DIAGNOSE_H_
