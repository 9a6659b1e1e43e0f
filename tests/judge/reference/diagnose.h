// Diagnose: from what is found and what was measured to why, and what to do.

#ifndef NANWATCH_TESTS_JUDGE_REFERENCE_DIAGNOSE_H_
#define NANWATCH_TESTS_JUDGE_REFERENCE_DIAGNOSE_H_

#include <span>

#include "diagnose/evidence.h"
#include "model/diagnosis.h"
#include "model/finding.h"
#include "model/run.h"

namespace nanwatch::reference {

// Writes sentences: for when findings or evidence changed, not for each record.
// `findings`: those whose severity is not kNone now, raw (before any ceiling).
// Deterministic; no cause is claimed as established that the evidence does not
// exclude the alternatives of. Sentences give numbers and names, not
// adjectives.
Diagnosis Diagnose(const RunDescription& run, const RunEvidence& evidence,
                   std::span<const Finding> findings);

}  // namespace nanwatch::reference

#endif  // NANWATCH_TESTS_JUDGE_REFERENCE_DIAGNOSE_H_
