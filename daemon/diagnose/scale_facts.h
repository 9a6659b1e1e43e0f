// What causes ask of the loss scale, as the evidence alone answers it.

#ifndef NANWATCH_DIAGNOSE_SCALE_FACTS_H_
#define NANWATCH_DIAGNOSE_SCALE_FACTS_H_

#include <cstdint>

#include "diagnose/evidence.h"
#include "model/rule_id.h"

namespace nanwatch {

// True when a scale is reported that no scaler makes: negative, NaN, infinite.
bool IsNoScale(const RunEvidence& evidence);

// Counts the overflows of the search of the start: those before the first good
// step, where each update overflows. 0 while no step was good.
int64_t StartUpOverflows(const RunEvidence& evidence);

// Counts the same for a sentence: 0 where steps lie between the records and
// some overflows came later, since nobody knows how many came before.
int64_t ToldAtStartUp(const RunEvidence& evidence);

// True when every overflow came before the first good step, but for a few just
// after it.
bool StartUpIsOver(const RunEvidence& evidence);

// True when updates overflowed at scale after scale and the newest one did
// not: the lower scale helped, however many it took.
bool HasHelped(const RunEvidence& evidence);

// A fall of the scale, and its overflows: over where the scale came back.
inline constexpr RuleSet kScaleFell = {RuleId::kScaleAtFloor,
                                       RuleId::kScaleBelowOne};

// True when the scale came back from all its falls: it rose far above its
// lowest, near the highest at which an update ever went well, and few updates
// were lost.
bool IsScaleBack(const RunEvidence& evidence);

// True when the scale is at the scaler's floor or at 1, below which scaling
// only harms.
bool IsAtTheFloor(const RunEvidence& evidence);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_SCALE_FACTS_H_
