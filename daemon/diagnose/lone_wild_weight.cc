// One weight that is finite and as much larger than it was as the highest bit
// of its exponent makes it, while all others are as they were. What comes
// after, in gradients, loss and scale, is its doing.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "diagnose/causes.h"
#include "diagnose/first_found.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kOutOfRange = RuleId::kWeightOutOfRange;
// Clients look at all weights once in so many steps: since then it may be so.
constexpr int64_t kLook = 32;
// Of gradients, losses, scales, and of ops: all that it can do.
constexpr RuleSet kDoings = {RuleId::kScaleAtFloor,
                             RuleId::kScaleBelowOne,
                             RuleId::kScaleUnrepresentable,
                             RuleId::kScaleCollapse,
                             RuleId::kOverflowStreak,
                             RuleId::kOverflowRate,
                             RuleId::kNeverCalibrated,
                             RuleId::kOverflowNotScaleDependent,
                             RuleId::kLossNonfinite,
                             RuleId::kWeightNonfinite,
                             RuleId::kOptimizerStateNonfinite,
                             RuleId::kOpOverflowOrigin,
                             RuleId::kOpOverflowPropagated,
                             RuleId::kPersistentOpOverflow,
                             RuleId::kOpSaturation,
                             RuleId::kOpInternalOverflow,
                             RuleId::kCommNonfiniteOrigin,
                             RuleId::kNearOverflow,
                             RuleId::kNumericMutation,
                             RuleId::kGnormSpike,
                             RuleId::kGnormExplosion,
                             RuleId::kGradRatio,
                             RuleId::kLossSpike,
                             RuleId::kLossHighPlateau,
                             RuleId::kUpdateRatio,
                             RuleId::kUpdateNormSpike};

bool Says(const Finding& finding, std::string_view number) {
  return NumberOf(finding, number).value_or(0) > 0;
}

// Not of one rank alone: a broadcast, or a program, wrote it.
bool IsOnOtherRanks(const Case& c, const Finding& first) {
  return std::any_of(c.findings.begin(), c.findings.end(),
                     [&](const Finding& other) {
                       return other.rule == kOutOfRange &&
                              other.opened_step == first.opened_step &&
                              other.subject.rank != first.subject.rank;
                     });
}

// None of the rule's findings is older.
bool CameSince(const Case& c, RuleId rule, int64_t step) {
  const Finding* first = FirstOfRule(c.findings, rule);
  return first == nullptr || first->opened_step > step;
}

}  // namespace

std::optional<CauseVerdict> LoneWildWeight(const Case& c) {
  const Finding* first = FirstOfRule(c.findings, kOutOfRange);
  if (first == nullptr || !Says(*first, "alone") || !Says(*first, "flipped") ||
      IsOnOtherRanks(c, *first)) {
    return std::nullopt;
  }
  CauseVerdict verdict;
  verdict.cause = Cause::kSilentCorruption;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.rule = kOutOfRange;
  verdict.rules = {kOutOfRange};
  for (const RuleId rule : kDoings) {
    if (CameSince(c, rule, first->opened_step - kLook)) {
      verdict.rules.Add(rule);
    }
  }
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  const std::string rank = c.evidence.world_size > 1 && first->subject.rank >= 0
                               ? fmt::format(" on rank {}", first->subject.rank)
                               : "";
  const double now = NumberOf(*first, "abs_max").value_or(0);
  const double before = NumberOf(*first, "abs_max_before").value_or(now);
  verdict.sentence = fmt::format(
      "A weight of {} is {} at step {}{}, alone: the largest of all others is "
      "{}, and that of its own tensor was {} at a look before. It is 2^{:.0f} "
      "times as large; a flip of the highest bit of an exponent makes 2^128 "
      "times, and an update that spares the others does not.",
      first->subject.op, InWords(now), first->opened_step, rank,
      InWords(NumberOf(*first, "abs_max_of_others").value_or(0)),
      InWords(before), std::log2(now / before));
  verdict.actions.push_back(
      {"", fmt::format("Resume from the last checkpoint before step {} in "
                       "which that weight is in its range.",
                       first->opened_step)});
  return verdict;
}

}  // namespace nanwatch
