#include "model/diagnosis.h"

#include <algorithm>

namespace nanwatch {
namespace {

template <typename T>
bool Contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::string_view Name(Cause cause) {
  switch (cause) {
    case Cause::kStartupCalibration:
      return "startup_calibration";
    case Cause::kRangeOverflow:
      return "range_overflow";
    case Cause::kHarmlessPadding:
      return "harmless_padding";
    case Cause::kScaleIndependentOp:
      return "scale_independent_op";
    case Cause::kCollapseWithUnderflow:
      return "collapse_with_underflow";
    case Cause::kNanFromForward:
      return "nan_from_forward";
    case Cause::kDivergence:
      return "divergence";
    case Cause::kRankDisagreement:
      return "rank_disagreement";
    case Cause::kScalerMisuse:
      return "scaler_misuse";
    case Cause::kSilence:
      return "silence";
    case Cause::kUnexplained:
      return "unexplained";
    case Cause::kUnderflow:
      return "underflow";
    case Cause::kNoSingleScale:
      return "no_single_scale";
    case Cause::kFp8Scaling:
      return "fp8_scaling";
    case Cause::kSilentCorruption:
      return "silent_corruption";
    case Cause::kNanFromBackward:
      return "nan_from_backward";
    case Cause::kOutlierBatch:
      return "outlier_batch";
    case Cause::kProgramEnded:
      return "program_ended";
    case Cause::kUpdateMadeWrong:
      return "update_made_wrong";
    case Cause::kUpdateLost:
      return "update_lost";
    case Cause::kLossMadeWrong:
      return "loss_made_wrong";
    case Cause::kLayerScales:
      return "layer_scales";
    case Cause::kLeftBenchmark:
      return "left_benchmark";
    case Cause::kLearnsYet:
      return "learns_yet";
    case Cause::kWeightsLost:
      return "weights_lost";
  }
  return "unexplained";
}

std::string_view Name(EvidenceGrade grade) {
  switch (grade) {
    case EvidenceGrade::kHypothesis:
      return "hypothesis";
    case EvidenceGrade::kSupported:
      return "supported";
    case EvidenceGrade::kEstablished:
      return "established";
  }
  return "hypothesis";
}

std::string_view Name(Condition condition) {
  switch (condition) {
    case Condition::kNotKnown:
      return "not_known";
    case Condition::kNoStepYet:
      return "no_step_yet";
    case Condition::kHealthy:
      return "healthy";
    case Condition::kNoted:
      return "noted";
    case Condition::kHealed:
      return "healed";
    case Condition::kUnsettled:
      return "unsettled";
    case Condition::kNotRead:
      return "not_read";
    case Condition::kNothingApplied:
      return "nothing_applied";
    case Condition::kNotLearning:
      return "not_learning";
    case Condition::kHeld:
      return "held";
    case Condition::kTrouble:
      return "trouble";
  }
  return "trouble";
}

bool IsHealthy(Condition condition) {
  return condition >= Condition::kNoStepYet && condition <= Condition::kNoted;
}

bool Explains(const CauseVerdict& cause, const Finding& finding) {
  if (!cause.rules.has(finding.rule)) return false;
  // These speak of the loss scale of all; with an op, of one layer's, which no
  // cause explains that does not name it.
  if (kScaleTrouble.has(finding.rule) && !finding.subject.op.empty() &&
      cause.cause != Cause::kUnexplained) {
    return Contains(cause.ops, finding.subject.op);
  }
  return finding.subject.op.empty() || cause.ops.empty() ||
         Contains(cause.ops, finding.subject.op) ||
         std::binary_search(cause.unlisted_ops.begin(),
                            cause.unlisted_ops.end(), finding.subject.op);
}

Severity Capped(const CauseVerdict& cause, const Finding& finding) {
  if (cause.uncapped.has(finding.rule)) return finding.severity;
  return std::min(finding.severity, cause.ceiling);
}

const CauseVerdict* FirstCause(const Diagnosis& diagnosis,
                               const Finding& finding) {
  for (const CauseVerdict& cause : diagnosis.causes) {
    if (Explains(cause, finding)) return &cause;
  }
  return nullptr;
}

Severity UnderCeiling(const Diagnosis& diagnosis, const Finding& finding) {
  const CauseVerdict* cause = FirstCause(diagnosis, finding);
  return cause == nullptr ? finding.severity : Capped(*cause, finding);
}

}  // namespace nanwatch
