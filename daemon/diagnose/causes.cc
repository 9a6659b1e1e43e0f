#include "diagnose/causes.h"

namespace nanwatch {
namespace {

using enum RuleId;

constexpr RuleSet kOpRules = kBadOp | RuleSet{kNearOverflow};
constexpr RuleSet kNanRules =
    kBadOp | RuleSet{kLossNonfinite, kWeightNonfinite, kOptimizerStateNonfinite,
                     kGnormExplosion, kWeightOutOfRange};
constexpr RuleSet kBornBackward =
    kBadOp | RuleSet{kOverflowStreak,  kOverflowRate,
                     kNeverCalibrated, kLossNonfinite,
                     kWeightNonfinite, kOptimizerStateNonfinite,
                     kGnormExplosion};
constexpr RuleSet kAtAnyScale = kScaleTrouble | kBadOp;
constexpr RuleSet kMisused = {kScaleLimitCycle, kScaleStuck,
                              kScaleRunaway,    kScaleDiscontinuity,
                              kLrSkipDesync,    kClippedBeforeUnscaling,
                              kUnscaledTwice,   RuleId::kLayerNotUnscaled};
// The others measure from a scale that is none.
constexpr RuleSet kOfNoScale =
    kScaleTrouble | RuleSet{kScaleLimitCycle, kScaleStuck, kScaleRunaway,
                            kScaleDiscontinuity, kLrSkipDesync};
constexpr RuleSet kSearch = {
    kScaleCollapse,    kOverflowStreak,       kOverflowRate,
    kOpOverflowOrigin, kOpOverflowPropagated, kPersistentOpOverflow,
    kOpSaturation,     kOpInternalOverflow,   kNearOverflow};
constexpr RuleSet kFixed = {kOverflowStreak,       kOverflowRate,
                            kNeverCalibrated,      kOpOverflowOrigin,
                            kOpOverflowPropagated, kPersistentOpOverflow,
                            kOpSaturation,         kOpInternalOverflow,
                            kNearOverflow,         kGnormExplosion};
constexpr RuleSet kDiverging = {
    kNumericMutation,  kGnormSpike,      kGnormExplosion, kGradRatio,
    kLossSpike,        kLossHighPlateau, kUpdateRatio,    kUpdateNormSpike,
    kWeightOutOfRange, kLossImpossible};

constexpr RuleSet kCollapse =
    kScaleTrouble | RuleSet{kScaleLimitCycle,   kGradVanishing,
                            kUnderflowMeasured, kUnderflowPredicted,
                            kLossNotDecreasing, kWeightUnchanged};
constexpr RuleSet kVanishing = {kGradRatio, kGradVanishing, kUnderflowMeasured,
                                kUnderflowPredicted};
constexpr RuleSet kNoSingle = kVanishing | RuleSet{RuleId::kNoSingleScale};
constexpr RuleSet kOfLayers = {RuleId::kLayerUnderflow,
                               RuleId::kLayerScaleOutside,
                               RuleId::kOneScaleSuffices};
constexpr RuleSet kFp8Rules = {kFp8Clip, kFp8Underflow, kScaleInvJump};
constexpr RuleSet kRanks = {kScaleRankMismatch, kSkipRankMismatch,
                            kReplicaDivergence, kStepRankSkew,
                            RuleId::kRankApart};
constexpr RuleSet kSilent = {kStalled, kTelemetryGap};
// What a program that makes updates wrong shows; which of it depends on how.
constexpr RuleSet kMadeWrong = kScaleTrouble | kVanishing | kNorm | kLossLevel |
                               RuleSet{RuleId::kUpdateFault,
                                       kWeightUnchanged,
                                       kLossNotDecreasing,
                                       kMetricAbsentAsZero,
                                       kUpdateRatio,
                                       kUpdateNormSpike,
                                       kClippedBeforeUnscaling,
                                       RuleId::kLayerWithoutGradient};
constexpr RuleSet kRoundedAway = {RuleId::kUpdateLost, kWeightUnchanged,
                                  kLossNotDecreasing, kUpdateRatio};
constexpr RuleSet kSpoilt = {kLossNonfinite, kWeightNonfinite,
                             kOptimizerStateNonfinite};

// What weights that are lost bring with them.
constexpr RuleSet kOfBadWeights = {RuleId::kEvaluationNonfinite,
                                   RuleId::kTermNonfinite, RuleId::kScoreLost,
                                   RuleId::kNumberNonfinite};

// Of a loss that left its level: itself, and what it brings.
constexpr RuleSet kOfLossThatLeft =
    kAtAnyScale | kOpRules | kSpoilt | kDiverging | kNoSingle | kFp8Rules |
    RuleSet{kWeightUnchanged, kLossNotDecreasing, RuleId::kUpdateFault,
            RuleId::kRivalGone} |
    kOfBadWeights;

constexpr CauseSpec kCauseSpecs[] = {
    {Cause::kStartupCalibration,
     "A dynamic scaler begins high and falls until the gradients fit: "
     "harmless, and over when the first updates succeed.",
     kSearch | RuleSet{kOverflowNotScaleDependent}},
    {Cause::kRangeOverflow,
     "Now and then gradients times the scale leave the range of fp16, and the "
     "scaler steps down: its job.",
     kSearch | kFixed |
         RuleSet{kScaleAtFloor, kScaleBelowOne, kOverflowNotScaleDependent}},
    {Cause::kHarmlessPadding,
     "An op overflows only in padded or masked elements that nobody reads; "
     "what hurts is that updates are skipped for it.",
     kScaleTrouble | kOpRules},
    {Cause::kNanFromForward,
     "NaN or infinity is born in the forward pass, the data or the weights, "
     "where no loss scale reaches.",
     kScaleTrouble | kNanRules | kOpRules | kOfBadWeights},
    {Cause::kNanFromBackward,
     "NaN is born in the backward pass: the loss is finite, gradients are not, "
     "and no loss scale is to blame.",
     kScaleTrouble | kBornBackward},
    {Cause::kOutlierBatch,
     "One batch has a loss and gradients far from all others; the next one is "
     "normal again.",
     (kOpRules - RuleSet{kOverflowNotScaleDependent}) | kNorm |
         RuleSet{kLossSpike}},
    {Cause::kLearnsYet,
     "A loss stood or rose, and the model learns all the same: a late start, "
     "a loss that rises by its construction, batches in an order.",
     kLossLevel | RuleSet{kLossNotDecreasing}},
    {Cause::kScaleIndependentOp, "An op overflows whatever the loss scale is.",
     kAtAnyScale | kOpRules},
    {Cause::kCollapseWithUnderflow,
     "The scale fell so far that small gradients become zero.",
     kCollapse | kSearch},
    {Cause::kUnderflow,
     "The loss scale is lower than it could be, or there is none, and small "
     "gradients are lost for it; or a layer gets no gradient any more.",
     kVanishing | kNorm | kLossLevel},
    {Cause::kNoSingleScale,
     "Layers differ so much in their gradients that no one scale suits all.",
     kNoSingle},
    {Cause::kLayerScales,
     "The loss scale of a layer does not suit its gradients; or one would do "
     "for all.",
     kOfLayers},
    {Cause::kFp8Scaling,
     "The scale of an FP8 tensor does not follow its values.", kFp8Rules},
    {Cause::kDivergence,
     "Loss, gradients or updates grow although nothing overflows: learning "
     "rate, data or initialisation.",
     kOfLossThatLeft},
    {Cause::kWeightsLost,
     "The loss went back to where it began, or stands higher after a restart: "
     "weights are lost, or a checkpoint was not loaded, or not whole.",
     kOfLossThatLeft},
    {Cause::kRankDisagreement,
     "Ranks that must agree on a scale, a skip or their weights do not, or one "
     "has left the others.",
     kRanks},
    {Cause::kScalerMisuse,
     "The scaler is not updated, restored or obeyed as it is meant to be.",
     kScaleTrouble | kMisused |
         (kOpRules - RuleSet{kOverflowNotScaleDependent})},
    {Cause::kSilentCorruption,
     "A device or a link is suspected of corrupting data.",
     kScaleTrouble | kOpRules | kSpoilt | kDiverging |
         RuleSet{kCommNonfiniteOrigin, kSdcStrikes}},
    {Cause::kUpdateMadeWrong,
     "The program makes its updates in a way that learns nothing, or not from "
     "the gradients of their own batches.",
     kMadeWrong},
    {Cause::kUpdateLost,
     "Updates are smaller than the format of the weights resolves.",
     kRoundedAway},
    {Cause::kLossMadeWrong,
     "The loss has values that none of its kind can have: it is made wrong, or "
     "is another one.",
     {RuleId::kLossImpossible}},
    {Cause::kLeftBenchmark,
     "The run does something else than its benchmark did: data, weights, "
     "settings, the schedule, an op.",
     {RuleId::kBenchLossDivergence}},
    {Cause::kProgramEnded,
     "The program broke off: an error, an exit, a signal, a person.",
     {RuleId::kProgramEnded}},
    {Cause::kSilence, "Records stopped coming, or never came.", kSilent},
};

constexpr Severity kInfo = Severity::kInfo;
constexpr Severity kAny = Severity::kCritical;
// Weights that are NaN evaluate to NaN.
constexpr RuleSet kNanAndEvaluations = kNanRules | kOfBadWeights;
constexpr uint64_t kNobody = 0;

// In the order in which they are believed when their grades are equal.
constexpr CauseForm kFormTable[] = {
    {Form::kWildWeight, Cause::kSilentCorruption, RuleSet{kWeightOutOfRange},
     kAny, kNobody, WhenWildWeight, SayWildWeight},
    {Form::kPaddingCounted, Cause::kHarmlessPadding, kOpRules, kInfo, kNobody,
     WhenPaddingCounted, SayPaddingCounted},
    {Form::kMask, Cause::kHarmlessPadding, kOpRules, kInfo, kNobody, WhenMask,
     SayMask},
    {Form::kPaddingPossible, Cause::kHarmlessPadding, kOpRules, kAny, kNobody,
     WhenPaddingPossible, SayPaddingPossible},
    {Form::kWeightsSpoilt, Cause::kNanFromForward, kNanAndEvaluations, kAny,
     kNobody, WhenWeightsSpoilt, SayWeightsSpoilt},
    {Form::kNanFromOp, Cause::kNanFromForward, kNanAndEvaluations, kAny,
     Bit(Form::kWeightsSpoilt), WhenNanFromOp, SayNanFromOp},
    {Form::kNanFromLoss, Cause::kNanFromForward, kNanAndEvaluations, kAny,
     Bit(Form::kWeightsSpoilt) | Bit(Form::kNanFromOp), WhenNanFromLoss,
     SayNanFromLoss},
    {Form::kNanBackward, Cause::kNanFromBackward, kBornBackward, kAny, kNobody,
     WhenNanBackward, SayNanBackward},
    {Form::kNanAtAnyScale, Cause::kNanFromBackward, kAtAnyScale, kAny, kNobody,
     WhenNanAtAnyScale, SayNanAtAnyScale},
    // Saturated at the limit is the same trouble.
    {Form::kOpAtAnyScale, Cause::kScaleIndependentOp,
     kAtAnyScale | RuleSet{kNearOverflow}, kAny, Bit(Form::kNanAtAnyScale),
     WhenOpAtAnyScale, SayOpAtAnyScale},
    {Form::kFindingAtAnyScale, Cause::kScaleIndependentOp, kAtAnyScale, kAny,
     Bit(Form::kNanAtAnyScale) | Bit(Form::kOpAtAnyScale),
     WhenFindingAtAnyScale, SayFindingAtAnyScale},
    {Form::kOutlierBatch, Cause::kOutlierBatch, RuleSet(), kInfo, kNobody,
     WhenOutlierBatch, SayOutlierBatch},
    {Form::kLateStart, Cause::kLearnsYet, RuleSet{kLossNotDecreasing}, kInfo,
     kNobody, WhenLateStart, SayLateStart},
    {Form::kScoreGrows, Cause::kLearnsYet, kLossLevel, kInfo, kNobody,
     WhenScoreGrows, SayScoreGrows},
    {Form::kRecurs, Cause::kLearnsYet, RuleSet{kLossSpike}, kInfo, kNobody,
     WhenRecurs, SayRecurs},
    {Form::kCorruption, Cause::kSilentCorruption,
     RuleSet{kCommNonfiniteOrigin, kSdcStrikes}, kAny, kNobody, WhenCorruption,
     SayCorruption},
    {Form::kRanksDisagree, Cause::kRankDisagreement, kRanks, kAny, kNobody,
     WhenRanksDisagree, SayRanksDisagree},
    {Form::kUpdateMadeWrong, Cause::kUpdateMadeWrong, RuleSet{kUpdateFault},
     kAny, kNobody, WhenUpdateMadeWrong, SayUpdateMadeWrong},
    {Form::kScaleIsNone, Cause::kScalerMisuse, kOfNoScale, kAny, kNobody,
     WhenScaleIsNone, SayScaleIsNone},
    {Form::kUnscaledWrongly, Cause::kScalerMisuse, kMisused, kAny,
     Bit(Form::kScaleIsNone), WhenUnscaledWrongly, SayUnscaledWrongly},
    {Form::kScalerMisused, Cause::kScalerMisuse, kMisused, kAny,
     Bit(Form::kScaleIsNone) | Bit(Form::kUnscaledWrongly), WhenScalerMisused,
     SayScalerMisused},
    {Form::kLayerScaleCollapsed, Cause::kCollapseWithUnderflow,
     RuleSet{kScaleBelowOne, kScaleUnrepresentable, kScaleAtFloor,
             kScaleCollapse},
     kAny, kNobody, WhenLayerScaleCollapsed, SayLayerScaleCollapsed},
    {Form::kStartUp, Cause::kStartupCalibration,
     kSearch | RuleSet{kOverflowNotScaleDependent}, kInfo, kNobody, WhenStartUp,
     SayStartUp},
    {Form::kFixedScaleTooHigh, Cause::kRangeOverflow, kFixed, kAny, kNobody,
     WhenFixedScaleTooHigh, SayFixedScaleTooHigh},
    {Form::kRangeOverflow, Cause::kRangeOverflow, kSearch, kAny,
     Bit(Form::kLayerScaleCollapsed), WhenRangeOverflow, SayRangeOverflow},
    {Form::kCollapseUnseen, Cause::kCollapseWithUnderflow, kCollapse, kAny,
     kNobody, WhenCollapseUnseen, SayCollapseUnseen},
    {Form::kCollapseMostly, Cause::kCollapseWithUnderflow, kCollapse, kAny,
     kNobody, WhenCollapseMostly, SayCollapseMostly},
    {Form::kCollapseStuck, Cause::kCollapseWithUnderflow, kCollapse, kAny,
     kNobody, WhenCollapseStuck, SayCollapseStuck},
    {Form::kCollapseLow, Cause::kCollapseWithUnderflow, kCollapse, kAny,
     kNobody, WhenCollapseLow, SayCollapseLow},
    {Form::kNoSingleScale, Cause::kNoSingleScale, kNoSingle, kAny, kNobody,
     WhenNoSingleScale, SayNoSingleScale},
    {Form::kLayerNotUnscaled, Cause::kScalerMisuse,
     RuleSet{RuleId::kLayerNotUnscaled}, kAny, kNobody, WhenLayerNotUnscaled,
     SayLayerNotUnscaled},
    {Form::kLayerScales, Cause::kLayerScales, kOfLayers, kAny, kNobody,
     WhenLayerScales, SayLayerScales},
    // A scale that fell too far, or none that suits, is the better cause.
    {Form::kUnderflow, Cause::kUnderflow, kVanishing, kAny,
     Bit(Form::kCollapseUnseen) | Bit(Form::kCollapseMostly) |
         Bit(Form::kCollapseStuck) | Bit(Form::kCollapseLow) |
         Bit(Form::kNoSingleScale),
     WhenUnderflow, SayUnderflow},
    {Form::kFp8, Cause::kFp8Scaling, kFp8Rules, kAny, kNobody, WhenFp8, SayFp8},
    {Form::kWeightsLost, Cause::kWeightsLost, kLossLevel, kAny, kNobody,
     WhenWeightsLost, SayWeightsLost},
    {Form::kDiverges, Cause::kDivergence, kDiverging, kAny,
     Bit(Form::kWeightsLost), WhenDiverges, SayDiverges},
    {Form::kDivergenceOutlasted, Cause::kDivergence, RuleSet(), kAny,
     Bit(Form::kWeightsLost) | Bit(Form::kDiverges), WhenDivergenceOutlasted,
     SayDivergenceOutlasted},
    {Form::kUpdateLost, Cause::kUpdateLost, kRoundedAway, kAny, kNobody,
     WhenUpdateLost, SayUpdateLost},
    {Form::kLossMadeWrong, Cause::kLossMadeWrong,
     RuleSet{RuleId::kLossImpossible}, kAny, kNobody, WhenLossMadeWrong,
     SayLossMadeWrong},
    {Form::kLeftBenchmark, Cause::kLeftBenchmark,
     RuleSet{RuleId::kBenchLossDivergence}, kAny, kNobody, WhenLeftBenchmark,
     SayLeftBenchmark},
    {Form::kProgramEnded, Cause::kProgramEnded, RuleSet{RuleId::kProgramEnded},
     kAny, kNobody, WhenProgramEnded, SayProgramEnded},
    {Form::kSilence, Cause::kSilence, kSilent, kAny, kNobody, WhenSilence,
     SaySilence},
};
static_assert(std::size(kFormTable) == kForms - 1);

}  // namespace

std::span<const CauseSpec> AllCauses() { return kCauseSpecs; }

std::span<const CauseForm> AllForms() { return kFormTable; }

Matches MatchAll(const Facts& f) {
  Matches matches;
  for (const CauseForm& form : kFormTable) {
    if (matches.FirstOf(form.yields_to) != nullptr) continue;
    Match match;
    match.form = form.form;
    match.verdict.cause = form.cause;
    match.verdict.rules = form.rules;
    match.verdict.ceiling = form.ceiling;
    if (form.when(f, matches, &match)) matches.Put(std::move(match));
  }
  return matches;
}

}  // namespace nanwatch
