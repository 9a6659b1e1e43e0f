// Facts about an op that was bad, which several causes ask for.

#ifndef NANWATCH_DIAGNOSE_OP_FACTS_H_
#define NANWATCH_DIAGNOSE_OP_FACTS_H_

#include "diagnose/evidence.h"

namespace nanwatch {

// In the forward pass or in what enters it: no loss scale touches it.
bool IsForward(const OpEvidence& op);
// What enters an op: the badness of another op's output, seen again.
bool IsInput(const OpEvidence& op);
// Bad still, as far as is known: not clean since, or within the last 20 steps.
bool IsBadNow(const OpEvidence& op, const RunEvidence& evidence);
// At (nearly) all of at least 6 attempts since it first was.
bool BadAtEveryAttempt(const OpEvidence& op);
// Bad at scales 64 times apart and at all between: lowering does not help.
bool BadAtEveryScale(const OpEvidence& op);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_OP_FACTS_H_
