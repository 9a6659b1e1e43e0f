// FP8: the scale of a tensor does not follow its values.

#include "diagnose/cause_form.h"

namespace nanwatch {

using enum RuleId;

bool WhenFp8(const Facts& f, const Matches&, Match* match) {
  if (!match->BeginAt(f.found.First(match->verdict.rules))) return false;
  // Clipped, and the scale is seen to jump: it is the delay. A scale that is
  // too wide, or one outlier in the tensor, makes zeros as well.
  const bool clips = f.found.has(kFp8Clip);
  const bool jumps = f.found.has(kScaleInvJump);
  match->verdict.grade = clips && jumps   ? EvidenceGrade::kEstablished
                         : clips || jumps ? EvidenceGrade::kSupported
                                          : EvidenceGrade::kHypothesis;
  return true;
}

void SayFp8(const Facts& f, Match* match) {
  const bool zeros = f.found.has(kFp8Underflow) && !f.found.has(kFp8Clip);
  match->Say((zeros ? "The FP8 scale leaves small values no bits: "
                    : "The FP8 scale follows its tensor too late: ") +
             match->Quote(*match->finding));
}

}  // namespace nanwatch
