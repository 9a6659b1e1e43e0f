// No single loss scale suits all layers: layer-wise scales or another format.

#include "diagnose/cause_form.h"
#include "diagnose/scale_words.h"

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

void SayNoSingleScale(const Facts& f, Match* match) {
  match->Say("The gradients of the layers span more than fp16 does: " +
             match->Quote(*match->finding));
  if (f.evidence.layer_ranges == nullptr) return;
  constexpr size_t kNamed = 4;  // stretches of layers in a sentence; ours
  for (std::string& sentence :
       ScalesInWords(*f.evidence.layer_ranges, kNamed)) {
    match->Advise(std::move(sentence));
  }
}

}  // namespace nanwatch
