// Silence: records stopped coming or were lost on the way.

#include <spdlog/fmt/fmt.h>

#include "diagnose/causes.h"
#include "diagnose/words.h"

namespace nanwatch {

std::optional<CauseVerdict> Silence(const Case& c) {
  const RunEvidence& e = c.evidence;
  const Finding* first = nullptr;
  for (const Finding& finding : c.findings) {
    // Rule 57 speaks of the schedule.
    if (finding.family != Family::kTelemetry ||
        finding.rule == RuleId::kLrSkipDesync)
      continue;
    if (first == nullptr || finding.severity > first->severity) {
      first = &finding;
    }
  }
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kSilence;
  verdict.rules = {RuleId::kStalled, RuleId::kTelemetryGap,
                   RuleId::kMetricAbsentAsZero};
  if (!Explains(verdict, *first)) verdict.rules.Add(first->rule);
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  // That nothing came is measured; why (hung, killed, cut off) is not.
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.sentence = "Nothing is heard, or not all: " + first->sentence;
  if (e.ranks_lost > 0) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{} of {} ended without a close.", e.ranks_lost,
                     CountOf(static_cast<uint64_t>(e.world_size), "rank"))});
  }
  if (e.dropped_steps > 0) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("The clients had to drop {}.",
                     CountOf(e.dropped_steps, "step record"))});
  }
  return verdict;
}

}  // namespace nanwatch
