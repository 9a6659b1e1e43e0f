// Facts about an op that was bad, which several causes ask for.

#ifndef NANWATCH_DIAGNOSE_OP_FACTS_H_
#define NANWATCH_DIAGNOSE_OP_FACTS_H_

#include <cstdint>

#include "diagnose/evidence.h"
#include "model/finding.h"

namespace nanwatch {

// In the forward pass or in what enters it: no loss scale touches it.
bool IsForward(const OpEvidence& op);
// In the backward pass.
bool IsGradient(const OpEvidence& op);
// What enters an op: the badness of another op's output, seen again.
bool IsInput(const OpEvidence& op);
// Steps within which one thing may well have led to another.
constexpr int64_t kRecentSteps = 20;  // ours

// Bad still, as far as is known: not clean since, or within kRecentSteps.
bool IsBadNow(const OpEvidence& op, const RunEvidence& evidence);
// At (nearly) all of at least 6 attempts since it first was.
bool BadAtEveryAttempt(const OpEvidence& op);
// In the forward pass, at half of the attempts since it first was. Too few, it
// may be, to compare scales, but the forward pass feels none. The scaled loss,
// one element, is among its ops too: so while a scaler moves the scale, three
// attempts, and more than one element.
bool OverflowsUnscaled(const OpEvidence& op, const RunEvidence& evidence);
// Bad at scales `apart` times apart and at all between: lowering does not help.
bool BadAtEveryScale(const OpEvidence& op, double apart);

// The subject is that op, at that slot, whatever the rank.
bool IsOf(const OpEvidence& op, const Subject& subject);

// What a verdict names, where it began in this op.
Subject OriginOf(const OpEvidence& op);
// Its gradient was finite when it arrived, and not when it left, at `step`.
bool MadeIt(const OpEvidence& op, int64_t step);
// Where the backward pass of `step` went bad first: the op that made it so, or
// the first parameter, as all are looked at, and only some modules may be;
// null: it is not known.
const OpEvidence* FirstGradient(const RunEvidence& evidence, int64_t step);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_OP_FACTS_H_
