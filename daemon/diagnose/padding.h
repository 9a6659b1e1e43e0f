// JudgePadding: whether what is bad of an op is its padding alone. The one
// judgement that can lower an alarm, and so the strictest.

#ifndef NANWATCH_DIAGNOSE_PADDING_H_
#define NANWATCH_DIAGNOSE_PADDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/case.h"
#include "diagnose/evidence.h"

namespace nanwatch {

struct Facts;

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

// What is harmless, or may be, of the ops that were bad.
struct PaddingFacts {
  enum class Kind : uint8_t {
    kNone,
    kEstablished,  // `op` is bad in its padding alone
    kMasked,       // `op` holds what comes after takes in
    kPossible,     // the padding of `op` may be all that is bad
  };
  Kind kind = Kind::kNone;
  const OpEvidence* op = nullptr;  // the first of that kind
  PaddingJudgement judgement;      // of it; of padding only
  std::vector<std::string> names;  // of all harmless ops, each once
  bool others = false;             // an op that is not harmless is bad now
};
PaddingFacts FindPadding(const Facts& f);

// True when the op's badness is established to be harmless padding: its own, or
// that of another such op that enters it and goes no further.
bool IsHarmlessPadding(const Case& c, const OpEvidence& op);

// True for infinities or NaN of the forward pass that what comes after takes
// in: seen again and again, or from the beginning, while losses are finite and
// updates go through. It is a mask, mostly.
bool IsAbsorbed(const Case& c, const OpEvidence& op);

// True when either of them is.
bool IsHarmless(const Case& c, const OpEvidence& op);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_PADDING_H_
