// Ops that are bad because of one that was bad before them: a cause explains
// what is found of them, too.

#ifndef NANWATCH_DIAGNOSE_CONSEQUENCES_H_
#define NANWATCH_DIAGNOSE_CONSEQUENCES_H_

#include <cstdint>

#include "diagnose/facts.h"

namespace nanwatch {

// Makes `verdict` explain the ops that were bad at `step` or since, but for
// those that are known to do no harm.
void ExplainBadSince(const Facts& f, int64_t step, CauseVerdict* verdict);

// Makes it explain what is bad for `origin`, which is among them: gradients
// since it is bad, and, if it is of the forward pass, what is bad there no
// longer than it.
void ExplainBadFor(const Facts& f, const OpEvidence& origin,
                   CauseVerdict* verdict);

// Makes it explain the ops that the evidence has no room for: what is found of
// them at `step` or since, and of the forward pass only where it came with what
// is listed, or soon after. Both of the above do so.
void ExplainUnlisted(const Facts& f, int64_t step, CauseVerdict* verdict);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_CONSEQUENCES_H_
