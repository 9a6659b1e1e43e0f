// FP8: the scale of a tensor does not follow its values.

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/first_found.h"

namespace nanwatch {

std::optional<CauseVerdict> Fp8Scaling(const Case& c) {
  constexpr RuleId kClip = RuleId::kFp8Clip;
  constexpr RuleId kUnderflow = RuleId::kFp8Underflow;
  constexpr RuleId kJump = RuleId::kScaleInvJump;
  const Finding* first = FirstFound(
      c.findings, [](const Finding& f) { return f.family == Family::kFp8; });
  if (first == nullptr) return std::nullopt;
  const auto found = [&](RuleId rule) {
    return std::any_of(c.findings.begin(), c.findings.end(),
                       [rule](const Finding& f) { return f.rule == rule; });
  };
  const bool clips = found(kClip);
  const bool jumps = found(kJump);
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
      found(kUnderflow) && !clips
          ? "The FP8 scale leaves small values no bits: " + first->sentence
          : "The FP8 scale follows its tensor too late: " + first->sentence;
  return verdict;
}

}  // namespace nanwatch
