// Silence: records stopped coming or were lost on the way.

#include <spdlog/fmt/fmt.h>

#include "diagnose/cause_form.h"
#include "diagnose/words.h"

namespace nanwatch {

bool WhenSilence(const Facts& f, const Matches&, Match* match) {
  if (!f.found.HasAny(match->verdict.rules)) return false;
  // Three rules speak of the schedule, of an end that was told, and of a norm.
  const Finding* first = f.found.FirstOfTheWorst([](const Finding& finding) {
    return finding.family == Family::kTelemetry &&
           finding.rule != RuleId::kLrSkipDesync &&
           finding.rule != RuleId::kProgramEnded &&
           finding.rule != RuleId::kMetricAbsentAsZero;
  });
  if (!match->BeginAt(first)) return false;
  match->verdict.rules.Add(first->rule);
  // That nothing came is measured; why (hung, killed, cut off) is not.
  match->verdict.grade = EvidenceGrade::kEstablished;
  return true;
}

void SaySilence(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  if (e.ranks_lost > 0 && e.world_size > 1) {
    match->Support(
        EvidenceGrade::kEstablished,
        fmt::format("{} of {} ended without a close.", e.ranks_lost,
                    CountOf(static_cast<uint64_t>(e.world_size), "rank")));
  }
  if (e.dropped_steps > 0) {
    match->Support(EvidenceGrade::kEstablished,
                   fmt::format("The clients had to drop {}.",
                               CountOf(e.dropped_steps, "step record")));
  }
}

}  // namespace nanwatch
