// Every cause: a function from what was measured to a verdict, or none. A file
// each. Adding one: its file, one line here and one in the list of diagnose.cc.

#ifndef NANWATCH_TESTS_JUDGE_REFERENCE_CAUSES_H_
#define NANWATCH_TESTS_JUDGE_REFERENCE_CAUSES_H_

#include <optional>
#include <span>

#include "diagnose/evidence.h"
#include "model/diagnosis.h"
#include "model/finding.h"
#include "model/run.h"

namespace nanwatch::reference {

// All that a cause may look at.
struct Case {
  const RunDescription& run;
  const RunEvidence& evidence;
  std::span<const Finding> findings;
};

// Actions are filled in by the caller.
using CauseFunction = std::optional<CauseVerdict> (*)(const Case&);

std::optional<CauseVerdict> LoneWildWeight(const Case&);
std::optional<CauseVerdict> HarmlessPadding(const Case&);
std::optional<CauseVerdict> StartupCalibration(const Case&);
std::optional<CauseVerdict> NanFromForward(const Case&);
std::optional<CauseVerdict> NanFromBackward(const Case&);
std::optional<CauseVerdict> OutlierBatch(const Case&);
std::optional<CauseVerdict> ScaleIndependentOp(const Case&);
std::optional<CauseVerdict> RangeOverflow(const Case&);
// Its part where the scale is fixed.
std::optional<CauseVerdict> FixedScaleTooHigh(const Case&);
std::optional<CauseVerdict> RankDisagreement(const Case&);
std::optional<CauseVerdict> ScalerMisuse(const Case&);
std::optional<CauseVerdict> CollapseWithUnderflow(const Case&);
std::optional<CauseVerdict> LayerScaleCollapse(const Case&);
std::optional<CauseVerdict> Underflow(const Case&);
std::optional<CauseVerdict> NoSingleScaleFits(const Case&);
std::optional<CauseVerdict> Fp8Scaling(const Case&);
std::optional<CauseVerdict> SilentCorruption(const Case&);
std::optional<CauseVerdict> Divergence(const Case&);
std::optional<CauseVerdict> Silence(const Case&);

// What is left when the others are known.
std::optional<CauseVerdict> Unexplained(const Case&, const Diagnosis& others);

}  // namespace nanwatch::reference

#endif  // NANWATCH_TESTS_JUDGE_REFERENCE_CAUSES_H_
