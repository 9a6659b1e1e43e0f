// Headline: the verdict on a run in one sentence, also when it is healthy; and
// its condition, which programs read.

#ifndef NANWATCH_DIAGNOSE_HEADLINE_H_
#define NANWATCH_DIAGNOSE_HEADLINE_H_

#include "diagnose/facts.h"
#include "model/diagnosis.h"

namespace nanwatch {

// Fills in condition and headline. REQUIRES: the causes are ranked and have
// their sentences. `known_better`: see IsKnownBetter().
void SetHeadline(const Facts& f, bool known_better, bool first_is_memory,
                 Diagnosis* diagnosis);

// Fills in the same where nothing was ever odd.
void SetHealthyHeadline(const Case& c, Diagnosis* diagnosis);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_HEADLINE_H_
