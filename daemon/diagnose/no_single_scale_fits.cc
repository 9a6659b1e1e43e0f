// No single loss scale suits all layers: layer-wise scales or another format.

#include "diagnose/cause_form.h"

namespace nanwatch {

bool WhenNoSingleScale(const Facts& f, const Matches&, Match* match) {
  if (!match->BeginAt(f.found.First(RuleId::kNoSingleScale))) return false;
  // The range is measured, what is lost of it predicted: counted underflow
  // makes it certain.
  const bool counted =
      f.evidence.underflow_fraction.value_or(0) > f.at.underflows;
  match->verdict.grade =
      counted ? EvidenceGrade::kEstablished : EvidenceGrade::kSupported;
  return true;
}

void SayNoSingleScale(const Facts&, Match* match) {
  match->Say("The gradients of the layers span more than fp16 does: " +
             match->Quote(*match->finding));
}

}  // namespace nanwatch
