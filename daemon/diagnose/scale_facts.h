// What several causes ask of the loss scale.

#ifndef NANWATCH_DIAGNOSE_SCALE_FACTS_H_
#define NANWATCH_DIAGNOSE_SCALE_FACTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "diagnose/causes.h"

namespace nanwatch {

// A scale below it is one at which no gradient overflows: it would be 10^7
// (rule 2's critical_scale).
inline constexpr double kTinyScale = 0x1p-8;

// Rules that a loss left its way: loss_spike and loss_high_plateau.
constexpr bool IsOfLoss(RuleId rule) {
  return rule == RuleId::kLossSpike || rule == RuleId::kLossHighPlateau;
}

// Anything tells of a loss scaler, or that the format may need one.
bool IsScaled(const Case& c);

// The loss grew a millionfold, record by record, before it was not finite, or
// is on its way there: the finding of rule 15; null: it did not.
const Finding* GrownLoss(const Case& c);

// A scale is reported that no scaler makes: negative, NaN or infinite.
bool IsNoScale(const RunEvidence& evidence);

// Updates are skipped and no scale is reported: a log's counter shows that a
// scaler is there, and not what it does. Ops would tell more.
bool IsUnseen(const Case& c);

// Overflows before the first good step, where each attempt overflows: the
// search of the start. 0 while no step was good.
int64_t StartUpOverflows(const RunEvidence& evidence);

// The same, to be told: 0 where steps lie between the records and some came
// later, since nobody knows how many came before.
int64_t ToldAtStartUp(const RunEvidence& evidence);

// Attempts overflowed at scale after scale, and the newest one did not: the
// lower scale helped, however many it took.
bool HasHelped(const RunEvidence& evidence);

// The scale is at the scaler's floor or at 1, below which scaling only harms.
bool IsAtTheFloor(const RunEvidence& evidence);

// Overflows follow one another at the floor, or most attempts overflow there:
// the scaler has no answer left, and hardly an update goes through. Rules say
// from how many on (the critical ones of 1, 2, 3, 5 and 7). One that is not
// seen has come there by as many overflows in a row as none survives.
bool IsStuck(const Case& c);

// Ordinary overflows cannot have brought the scale where it is: they go on at
// the floor, or it is so low that gradients which overflow there are none.
bool IsBeyondProbing(const Case& c);

// The incident goes on that began with a loss that left its way, though that is
// back by now.
bool IsOfEarlierLoss(const Case& c);

// Rules on the scale of which every finding came with a jump of the loss, or
// after it: its consequences; also while they outlast it.
RuleSet ConsequencesOfLoss(const Case& c);

// Rules on ops, of which every finding came soon after a jump of the loss, and
// that on zeros, soon after one of the loss or of the gradient norm: what has
// run away leaves the range, and units that it killed have gradients of 0.
RuleSet AfterTheLoss(const Case& c);

// Of `rules` that of the first of the worst that is found of the scale: what a
// cause rests on. kNone: nothing is.
RuleId HeadOfScale(const Case& c, const RuleSet& rules);

// Every overflow came before the first good step, but for a few just after it.
bool StartUpIsOver(const RunEvidence& evidence);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_SCALE_FACTS_H_
