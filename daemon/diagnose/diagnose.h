// Diagnose: from what is found and what was measured to why, and what to do.
//
//   facts    what causes ask, found out in one pass        facts.h
//   causes   a table: when each form of a cause holds      causes.h
//   rank     which are told, in which order                rank.h
//   say      sentences, evidence and advice, last          headline.h

#ifndef NANWATCH_DIAGNOSE_DIAGNOSE_H_
#define NANWATCH_DIAGNOSE_DIAGNOSE_H_

#include <span>

#include "diagnose/evidence.h"
#include "model/diagnosis.h"
#include "model/finding.h"
#include "model/rule_thresholds.h"
#include "model/run.h"

namespace nanwatch {

// Writes sentences: for when findings or evidence changed, not for each record.
// `findings`: those whose severity is not kNone now, raw (before any ceiling).
// `thresholds`: those in force.
// Deterministic; no cause is claimed as established unless the evidence
// excludes the alternatives. Sentences give numbers and names, not adjectives.
Diagnosis Diagnose(const RunDescription& run, const RunEvidence& evidence,
                   std::span<const Finding> findings,
                   const RuleThresholds& thresholds);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_DIAGNOSE_H_
