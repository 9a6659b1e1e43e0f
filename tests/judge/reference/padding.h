// JudgePadding: whether what is bad of an op is its padding alone. The one
// judgement that can lower an alarm, and so the strictest.

#ifndef NANWATCH_TESTS_JUDGE_REFERENCE_PADDING_H_
#define NANWATCH_TESTS_JUDGE_REFERENCE_PADDING_H_

#include <optional>
#include <string>
#include <vector>

#include "diagnose/evidence.h"
#include "tests/judge/reference/causes.h"

namespace nanwatch::reference {

struct PaddingJudgement {
  EvidenceGrade grade = EvidenceGrade::kHypothesis;
  std::vector<Evidence> evidence;
};

// nullopt: it is not, or there is nothing that hints at it.
//
// Established: the real (logical) region was counted and is clean; or at most
// as many elements are bad as are padding, and what comes after is clean. In
// saturation mode what comes after must have been counted too: a finite loss
// proves nothing there. A non-finite loss, a bad element in the real region, or
// more bad elements than padding: never.
std::optional<PaddingJudgement> JudgePadding(const Case& c,
                                             const OpEvidence& op);

// True when the op's badness is established to be harmless padding: its own, or
// that of another such op that enters it and goes no further.
bool IsHarmlessPadding(const Case& c, const OpEvidence& op);

// Infinities or NaN of the forward pass that what comes after takes in: seen
// again and again, or from the beginning, while losses are finite and updates
// go through. A mask, mostly.
bool IsAbsorbed(const Case& c, const OpEvidence& op);

// Either of them.
bool IsHarmless(const Case& c, const OpEvidence& op);

}  // namespace nanwatch::reference

#endif  // NANWATCH_TESTS_JUDGE_REFERENCE_PADDING_H_
