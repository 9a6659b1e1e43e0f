#include "diagnose/brought.h"

#include <algorithm>

#include "diagnose/op_facts.h"

namespace nanwatch {
namespace {

using enum RuleId;

constexpr int64_t kForEver = INT64_MAX;
// Ours: what follows later has had time for a reason of its own.
constexpr int64_t kSoon = 100;  // steps
// A log tells one step in ten or twenty, and of the scale the last.
constexpr int64_t kLogGap = 20;  // steps; ours
// Clients look at all weights once in 32 steps: it may be so since the look
// before.
constexpr int64_t kLook = 32;  // steps

constexpr BroughtRow kRows[] = {
    {Trouble::kLossLeft,
     RuleSet{kScaleAtFloor, kScaleBelowOne, kScaleCollapse, kOverflowStreak,
             kOverflowRate},
     -kLogGap, kForEver,
     "Gradients grow with a loss that jumps, and the scale answers."},
    {Trouble::kRanAway,
     kBadOp | kLossLevel |
         RuleSet{kGnormSpike, kNearOverflow, kNumericMutation, kUpdateRatio,
                 kUpdateNormSpike, kFp8Clip, kFp8Underflow, kScaleInvJump},
     1, kSoon, "What has run away leaves the range."},
    {Trouble::kRanAway,
     RuleSet{kLossNonfinite, kGnormExplosion, kWeightNonfinite,
             kOptimizerStateNonfinite},
     1, kRecentSteps, "What leaves the range ends in NaN."},
    {Trouble::kRanAway,
     RuleSet{kGradRatio, kGradVanishing, kUnderflowMeasured,
             kUnderflowPredicted, RuleId::kNoSingleScale, kWeightUnchanged,
             kLossNotDecreasing, RuleId::kUpdateFault},
     0, kSoon, "Units that a jump killed have gradients of 0."},
    {Trouble::kLossNan,
     RuleSet{kScaleAtFloor, kScaleBelowOne, kScaleCollapse, kOverflowStreak,
             kOverflowRate, kNeverCalibrated},
     -kLogGap, kForEver,
     "Each step overflows, and the scale falls for nothing."},
    {Trouble::kLayerGone, kNorm | kLossLevel, 0, kSoon,
     "A training that lost a layer loses what the layer knew."},
    {Trouble::kWildWeight,
     kScaleTrouble | kBadOp | kNorm | kLossLevel |
         RuleSet{kLossNonfinite, kWeightNonfinite, kOptimizerStateNonfinite,
                 kCommNonfiniteOrigin, kNearOverflow, kNumericMutation,
                 kGradRatio, kUpdateRatio, kUpdateNormSpike},
     1 - kLook, kForEver,
     "All that a weight out of its range can do to gradients, loss and scale."},
    {Trouble::kOneIdle, kNorm | kLossLevel, 0, kForEver,
     "The other optimizers go on, and win over what stands still."},
};

}  // namespace

std::span<const BroughtRow> AllBrought() { return kRows; }

RuleSet BroughtBy(Trouble trouble, int64_t since, const FindingIndex& found,
                  int64_t until) {
  RuleSet brought;
  for (const BroughtRow& row : kRows) {
    if (row.trouble != trouble) continue;
    const int64_t from = since + row.from;
    const int64_t to =
        std::max(until, row.to == kForEver ? kForEver : since + row.to);
    for (const RuleId rule : row.rules) {
      if (found.AllOpenedIn(rule, from, to)) brought.Add(rule);
    }
  }
  return brought;
}

}  // namespace nanwatch
