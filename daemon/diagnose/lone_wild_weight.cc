// One weight that is finite and as much larger than it was as the highest bit
// of its exponent makes it, while all others are as they were. What comes
// after, in gradients, loss and scale, is its doing.

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <string_view>

#include "diagnose/brought.h"
#include "diagnose/cause_form.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kOutOfRange = RuleId::kWeightOutOfRange;

bool Says(const Finding& finding, std::string_view number) {
  return NumberOf(finding, number).value_or(0) > 0;
}

// True when it is not of one rank alone: a broadcast, or a program, wrote it.
bool IsOnOtherRanks(const Facts& f, const Finding& first) {
  return f.found.Any([&](const Finding& other) {
    return other.rule == kOutOfRange &&
           other.opened_step == first.opened_step &&
           other.subject.rank != first.subject.rank;
  });
}

}  // namespace

bool WhenWildWeight(const Facts& f, const Matches&, Match* match) {
  const Finding* first = f.found.First(kOutOfRange);
  if (first == nullptr || !Says(*first, "alone") || !Says(*first, "flipped") ||
      IsOnOtherRanks(f, *first)) {
    return false;
  }
  CauseVerdict& verdict = match->verdict;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.rule = kOutOfRange;
  verdict.rules |= BroughtBy(Trouble::kWildWeight, first->opened_step, f.found);
  return match->BeginAt(first);
}

void SayWildWeight(const Facts& f, Match* match) {
  const Finding& first = *match->finding;
  const std::string rank = f.evidence.world_size > 1 && first.subject.rank >= 0
                               ? fmt::format(" on rank {}", first.subject.rank)
                               : "";
  const double now = NumberOf(first, "abs_max").value_or(0);
  const double before = NumberOf(first, "abs_max_before").value_or(now);
  match->Say(fmt::format(
      "A weight of {} is {} at step {}{}, alone: the largest of all others is "
      "{}, and that of its own tensor was {} at a look before. It is 2^{:.0f} "
      "times as large; a flip of the highest bit of an exponent makes 2^128 "
      "times, and an update that spares the others does not.",
      first.subject.op, InWords(now), first.opened_step, rank,
      InWords(NumberOf(first, "abs_max_of_others").value_or(0)),
      InWords(before), std::log2(now / before)));
  match->Advise("{Back}: that weight is lost.");
}

}  // namespace nanwatch
