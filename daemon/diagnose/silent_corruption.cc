// A device or a link that corrupts data in silence: suspected, never claimed.

#include "diagnose/cause_form.h"

namespace nanwatch {
namespace {

using enum RuleId;

// Returns the first in the order of the findings; null without one.
const Finding* FirstInOrder(const Facts& f, RuleId rule) {
  if (!f.found.has(rule)) return nullptr;
  for (const Finding& finding : f.found) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

struct Signs {
  const Finding* strikes = nullptr;
  const Finding* link = nullptr;     // a collective made what is not finite
  const Finding* replica = nullptr;  // of the same rank as the strikes

  explicit Signs(const Facts& f)
      : strikes(FirstInOrder(f, kSdcStrikes)),
        link(FirstInOrder(f, kCommNonfiniteOrigin)),
        replica(FirstInOrder(f, kReplicaDivergence)) {
    const bool same = strikes != nullptr && replica != nullptr &&
                      replica->subject.rank >= 0 &&
                      replica->subject.rank == strikes->subject.rank;
    if (!same) replica = nullptr;
    if (link != nullptr && link->severity <= Severity::kInfo) link = nullptr;
  }
};

}  // namespace

bool WhenCorruption(const Facts& f, const Matches&, Match* match) {
  const Signs signs(f);
  if (!match->BeginAt(signs.strikes != nullptr ? signs.strikes : signs.link)) {
    return false;
  }
  CauseVerdict& verdict = match->verdict;
  // Its gradient norm is the same thing, seen from the rank.
  if (signs.strikes != nullptr) verdict.rules |= kNorm;
  if (signs.link != nullptr) {
    for (const OpEvidence& op : f.evidence.ops) {
      if (op.slot == Slot::kCollective) verdict.ops.push_back(op.op.name);
    }
  }
  // The collective's own overflow is the same thing, seen from one rank.
  if (!verdict.ops.empty()) {
    verdict.rules |=
        {kOpOverflowOrigin, kOpOverflowPropagated, kPersistentOpOverflow};
  }
  // Two independent signs of the same rank are support; one may be its data.
  verdict.grade = signs.replica != nullptr || signs.strikes == nullptr
                      ? EvidenceGrade::kSupported
                      : EvidenceGrade::kHypothesis;
  return true;
}

void SayCorruption(const Facts& f, Match* match) {
  const Signs signs(f);
  const Finding& first = *match->finding;
  const std::string place =
      f.evidence.suspect_place.empty() ||
              f.evidence.suspect_rank != first.subject.rank
          ? ""
          : " (" + f.evidence.suspect_place + ")";
  const char* const lead =
      signs.strikes != nullptr
          ? "Suspected silent data corruption on rank "
          : "The communication itself is suspected, first on rank ";
  match->Say(lead + std::to_string(first.subject.rank) + place + ": " +
             match->Quote(first));
  if (signs.replica != nullptr) {
    match->Support(EvidenceGrade::kEstablished, signs.replica->sentence);
  }
  if (signs.strikes != nullptr && signs.link != nullptr) {
    match->Support(EvidenceGrade::kEstablished, signs.link->sentence);
  }
}

}  // namespace nanwatch
