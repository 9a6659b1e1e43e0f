// The loss scale of a layer does not suit its gradients, is never taken off, or
// need not be one of its own.

#include <string>

#include "diagnose/cause_form.h"
#include "diagnose/scale_words.h"

namespace nanwatch {
namespace {

using enum RuleId;

constexpr size_t kNamed = 4;  // stretches of layers in a sentence; ours

}  // namespace

bool WhenLayerScales(const Facts& f, const Matches&, Match* match) {
  // What is outside says most; that one scale would do is a note.
  const Finding* first = f.found.First(kLayerScaleOutside);
  if (first == nullptr) first = f.found.First(kLayerUnderflow);
  if (first == nullptr) first = f.found.First(kOneScaleSuffices);
  if (!match->BeginAt(first)) return false;
  match->verdict.grade = EvidenceGrade::kSupported;
  return true;
}

void SayLayerScales(const Facts& f, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  if (f.evidence.layer_ranges == nullptr) return;
  for (std::string& sentence :
       ScalesInWords(*f.evidence.layer_ranges, kNamed)) {
    match->Advise(std::move(sentence));
  }
}

bool WhenLayerNotUnscaled(const Facts& f, const Matches&, Match* match) {
  if (!match->BeginAt(f.found.First(kLayerNotUnscaled))) return false;
  match->verdict.grade = EvidenceGrade::kEstablished;
  return true;
}

void SayLayerNotUnscaled(const Facts&, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  match->Advise(
      "Divide the gradients of the layer's weight and bias by the scale that "
      "was on the gradient at its output, before clipping and the update.");
}

}  // namespace nanwatch
