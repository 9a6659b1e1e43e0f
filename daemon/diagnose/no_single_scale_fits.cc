// No single loss scale suits all layers: layer-wise scales or another format.

#include "diagnose/causes.h"
#include "diagnose/first_found.h"

namespace nanwatch {

std::optional<CauseVerdict> NoSingleScaleFits(const Case& c) {
  constexpr RuleId kNoSingleScale = RuleId::kNoSingleScale;
  const Finding* first = FirstFound(c.findings, [](const Finding& finding) {
    return finding.rule == kNoSingleScale;
  });
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kNoSingleScale;
  verdict.rules = {RuleId::kGradRatio, RuleId::kGradVanishing,
                   RuleId::kUnderflowMeasured, RuleId::kUnderflowPredicted,
                   kNoSingleScale};
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  // The range is measured, what is lost of it predicted: counted underflow
  // makes it certain.
  const bool counted = c.evidence.underflow_fraction.value_or(0) > 0.01;
  verdict.grade =
      counted ? EvidenceGrade::kEstablished : EvidenceGrade::kSupported;
  verdict.sentence = "The gradients of the layers span more than fp16 does: " +
                     first->sentence;
  return verdict;
}

}  // namespace nanwatch
