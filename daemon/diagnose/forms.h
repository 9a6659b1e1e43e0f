// What each form of a cause decides (When...) and says (Say...): a pair of
// functions each, in the file of the cause. causes.cc has them in a table.

#ifndef NANWATCH_DIAGNOSE_FORMS_H_
#define NANWATCH_DIAGNOSE_FORMS_H_

#include "diagnose/cause_form.h"

namespace nanwatch {

// lone_wild_weight.cc
bool WhenWildWeight(const Facts&, const Matches&, Match*);
void SayWildWeight(const Facts&, Match*);
// harmless_padding.cc
bool WhenPaddingCounted(const Facts&, const Matches&, Match*);
void SayPaddingCounted(const Facts&, Match*);
bool WhenMask(const Facts&, const Matches&, Match*);
void SayMask(const Facts&, Match*);
bool WhenPaddingPossible(const Facts&, const Matches&, Match*);
void SayPaddingPossible(const Facts&, Match*);
// nan_from_forward.cc
bool WhenWeightsSpoilt(const Facts&, const Matches&, Match*);
void SayWeightsSpoilt(const Facts&, Match*);
bool WhenNanFromOp(const Facts&, const Matches&, Match*);
void SayNanFromOp(const Facts&, Match*);
bool WhenNanFromLoss(const Facts&, const Matches&, Match*);
void SayNanFromLoss(const Facts&, Match*);
// nan_from_backward.cc
bool WhenNanBackward(const Facts&, const Matches&, Match*);
void SayNanBackward(const Facts&, Match*);
// scale_independent_op.cc
bool WhenNanAtAnyScale(const Facts&, const Matches&, Match*);
void SayNanAtAnyScale(const Facts&, Match*);
bool WhenOpAtAnyScale(const Facts&, const Matches&, Match*);
void SayOpAtAnyScale(const Facts&, Match*);
bool WhenFindingAtAnyScale(const Facts&, const Matches&, Match*);
void SayFindingAtAnyScale(const Facts&, Match*);
// outlier_batch.cc
bool WhenOutlierBatch(const Facts&, const Matches&, Match*);
void SayOutlierBatch(const Facts&, Match*);
// silent_corruption.cc
bool WhenCorruption(const Facts&, const Matches&, Match*);
void SayCorruption(const Facts&, Match*);
// rank_disagreement.cc
bool WhenRanksDisagree(const Facts&, const Matches&, Match*);
void SayRanksDisagree(const Facts&, Match*);
// scaler_misuse.cc
bool WhenScaleIsNone(const Facts&, const Matches&, Match*);
void SayScaleIsNone(const Facts&, Match*);
bool WhenUnscaledWrongly(const Facts&, const Matches&, Match*);
void SayUnscaledWrongly(const Facts&, Match*);
bool WhenScalerMisused(const Facts&, const Matches&, Match*);
void SayScalerMisused(const Facts&, Match*);
// layer_scale_collapse.cc
bool WhenLayerScaleCollapsed(const Facts&, const Matches&, Match*);
void SayLayerScaleCollapsed(const Facts&, Match*);
// startup_calibration.cc
bool WhenStartUp(const Facts&, const Matches&, Match*);
void SayStartUp(const Facts&, Match*);
// range_overflow.cc, fixed_scale.cc
// True when overflows are those of batches that stand out, and nothing more.
bool OverflowsAreOfOutliers(const Facts&);
bool WhenFixedScaleTooHigh(const Facts&, const Matches&, Match*);
void SayFixedScaleTooHigh(const Facts&, Match*);
bool WhenRangeOverflow(const Facts&, const Matches&, Match*);
void SayRangeOverflow(const Facts&, Match*);
// collapse_with_underflow.cc
bool WhenCollapseUnseen(const Facts&, const Matches&, Match*);
void SayCollapseUnseen(const Facts&, Match*);
bool WhenCollapseMostly(const Facts&, const Matches&, Match*);
void SayCollapseMostly(const Facts&, Match*);
bool WhenCollapseStuck(const Facts&, const Matches&, Match*);
void SayCollapseStuck(const Facts&, Match*);
bool WhenCollapseLow(const Facts&, const Matches&, Match*);
void SayCollapseLow(const Facts&, Match*);
// no_single_scale_fits.cc
bool WhenNoSingleScale(const Facts&, const Matches&, Match*);
void SayNoSingleScale(const Facts&, Match*);
// underflow.cc
bool WhenUnderflow(const Facts&, const Matches&, Match*);
void SayUnderflow(const Facts&, Match*);
// fp8_scaling.cc
bool WhenFp8(const Facts&, const Matches&, Match*);
void SayFp8(const Facts&, Match*);
// divergence.cc
bool WhenDiverges(const Facts&, const Matches&, Match*);
void SayDiverges(const Facts&, Match*);
bool WhenDivergenceOutlasted(const Facts&, const Matches&, Match*);
void SayDivergenceOutlasted(const Facts&, Match*);
// silence.cc
bool WhenSilence(const Facts&, const Matches&, Match*);
void SaySilence(const Facts&, Match*);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FORMS_H_
