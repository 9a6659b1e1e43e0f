// A device or a link that corrupts data in silence: suspected, never claimed.

#include "diagnose/causes.h"

namespace nanwatch {

std::optional<CauseVerdict> SilentCorruption(const Case& c) {
  constexpr RuleId kStrikes = RuleId::kSdcStrikes;
  constexpr RuleId kComm = RuleId::kCommNonfiniteOrigin;
  constexpr RuleId kReplica = RuleId::kReplicaDivergence;
  const Finding* strikes = nullptr;
  const Finding* comm = nullptr;
  const Finding* replica = nullptr;
  for (const Finding& finding : c.findings) {
    const Finding** of = finding.rule == kStrikes   ? &strikes
                         : finding.rule == kComm    ? &comm
                         : finding.rule == kReplica ? &replica
                                                    : nullptr;
    if (of != nullptr && *of == nullptr) *of = &finding;
  }
  const bool alone = comm != nullptr && comm->severity > Severity::kInfo;
  if (strikes == nullptr && !alone) return std::nullopt;
  const Finding& first = strikes != nullptr ? *strikes : *comm;
  CauseVerdict verdict;
  verdict.cause = Cause::kSilentCorruption;
  verdict.rules = {kComm, kStrikes};
  // Its gradient norm is the same thing, seen from the rank.
  if (strikes != nullptr)
    verdict.rules |= {RuleId::kGnormSpike, RuleId::kGnormExplosion};
  for (const OpEvidence& op : c.evidence.ops) {
    if (alone && op.slot == Slot::kCollective)
      verdict.ops.push_back(op.op.name);
  }
  // The collective's own overflow is the same thing, seen from one rank.
  if (!verdict.ops.empty()) {
    verdict.rules |= {RuleId::kOpOverflowOrigin, RuleId::kOpOverflowPropagated,
                      RuleId::kPersistentOpOverflow};
  }
  verdict.origin = first.subject;
  verdict.step = first.opened_step;
  // Two independent signs of the same rank are support; one may be its data.
  const bool same = strikes != nullptr && replica != nullptr &&
                    replica->subject.rank >= 0 &&
                    replica->subject.rank == strikes->subject.rank;
  verdict.grade = same || (alone && strikes == nullptr)
                      ? EvidenceGrade::kSupported
                      : EvidenceGrade::kHypothesis;
  const std::string place =
      c.evidence.suspect_place.empty() ||
              c.evidence.suspect_rank != first.subject.rank
          ? ""
          : " (" + c.evidence.suspect_place + ")";
  verdict.sentence =
      (strikes != nullptr
           ? "Suspected silent data corruption on rank " +
                 std::to_string(first.subject.rank) + place + ": "
           : "The communication itself is suspected, first on rank " +
                 std::to_string(first.subject.rank) + place + ": ") +
      first.sentence;
  if (same) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished, replica->sentence});
  }
  if (strikes != nullptr && alone) {
    verdict.evidence.push_back({EvidenceGrade::kEstablished, comm->sentence});
  }
  return verdict;
}

}  // namespace nanwatch
