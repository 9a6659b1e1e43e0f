#include "model/diagnosis.h"

namespace nanwatch {

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

}  // namespace nanwatch
