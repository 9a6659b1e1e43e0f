// Facts about an op that was bad, which several causes ask for.

#ifndef NANWATCH_DIAGNOSE_OP_FACTS_H_
#define NANWATCH_DIAGNOSE_OP_FACTS_H_

#include <cstdint>

#include "diagnose/evidence.h"
#include "model/finding.h"

namespace nanwatch {

// True in the forward pass and in what enters it: no loss scale touches it.
bool IsForward(const OpEvidence& op);
// True in the backward pass.
bool IsGradient(const OpEvidence& op);
// True for what enters an op: the badness of another op's output, seen again.
bool IsInput(const OpEvidence& op);
// True for what enters the first op.
bool IsData(const OpEvidence& op);
// Who made what is not finite: the data had it, a weight; or an op made it, the
// last two.
enum class Maker : uint8_t { kData, kWeight, kFp32Op, kOtherOp };
Maker MakerOf(const OpEvidence& op);
// Steps within which one thing may well have led to another.
constexpr int64_t kRecentSteps = 20;  // ours

// True while it is bad, as far as is known: not clean since, or within
// kRecentSteps.
bool IsBadNow(const OpEvidence& op, const RunEvidence& evidence);
// True when it was bad at (nearly) all of at least 6 updates since it first
// was.
bool BadAtEveryUpdate(const OpEvidence& op);
// True when it was bad in the forward pass, at half of the updates since it
// first was. Those may be too few to compare scales, but the forward pass feels
// none. The scaled loss, one element, is among its ops too: so while a scaler
// moves the scale, it takes three updates, and more than one element.
bool OverflowsUnscaled(const OpEvidence& op, const RunEvidence& evidence);
// True when it was bad at scales `apart` times apart and at all between:
// lowering does not help.
bool BadAtEveryScale(const OpEvidence& op, double apart);

// True when the subject is that op, at that slot, whatever the rank.
bool IsOf(const OpEvidence& op, const Subject& subject);

// Returns what a verdict names where it began in this op.
Subject OriginOf(const OpEvidence& op);
// True when its gradient was finite as it arrived, and not as it left, at
// `step`.
bool MadeIt(const OpEvidence& op, int64_t step);
// Returns where the backward pass of `step` went bad first: the op that made it
// so, or the first parameter, as all are looked at, and only some modules may
// be; null where it is not known.
const OpEvidence* FirstGradient(const RunEvidence& evidence, int64_t step);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_OP_FACTS_H_
