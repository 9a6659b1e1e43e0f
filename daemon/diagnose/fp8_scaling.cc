// FP8: the scale of a tensor does not follow its values.

#include "diagnose/causes.h"

namespace nanwatch {

std::optional<CauseVerdict> Fp8Scaling(const Case& c) {
  constexpr int kClip = 41;
  constexpr int kUnderflow = 42;
  constexpr int kJump = 43;
  const Finding* first = nullptr;
  bool clips = false;
  bool jumps = false;
  bool underflows = false;
  for (const Finding& finding : c.findings) {
    if (finding.family != Family::kFp8) continue;
    clips |= finding.rule == kClip;
    jumps |= finding.rule == kJump;
    underflows |= finding.rule == kUnderflow;
    if (first == nullptr || finding.opened_step < first->opened_step) {
      first = &finding;
    }
  }
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kFp8Scaling;
  verdict.rules = {kClip, kUnderflow, kJump};
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  // Clipped, and the scale is seen to jump: it is the delay. A scale that is
  // too wide, or one outlier in the tensor, makes zeros as well.
  verdict.grade = clips && jumps   ? EvidenceGrade::kEstablished
                  : clips || jumps ? EvidenceGrade::kSupported
                                   : EvidenceGrade::kHypothesis;
  verdict.sentence =
      underflows && !clips
          ? "The FP8 scale leaves small values no bits: " + first->sentence
          : "The FP8 scale follows its tensor too late: " + first->sentence;
  return verdict;
}

}  // namespace nanwatch
