// Silence: records stopped coming or were lost on the way.

#include <spdlog/fmt/fmt.h>

#include "diagnose/cause_form.h"
#include "diagnose/words.h"

namespace nanwatch {

bool WhenSilence(const Facts& f, const Matches&, Match* match) {
  if (!f.found.HasAny(match->verdict.rules)) return false;
  const Finding* first = nullptr;
  for (const Finding& finding : f.found) {
    // These speak of the schedule, and of an end that was told.
    if (finding.family != Family::kTelemetry ||
        finding.rule == RuleId::kLrSkipDesync ||
        finding.rule == RuleId::kProgramEnded) {
      continue;
    }
    if (first == nullptr || finding.severity > first->severity) {
      first = &finding;
    }
  }
  if (first == nullptr) return false;
  match->finding = first;
  match->verdict.rules.Add(first->rule);
  match->verdict.origin = first->subject;
  match->verdict.step = first->opened_step;
  // That nothing came is measured; why (hung, killed, cut off) is not.
  match->verdict.grade = EvidenceGrade::kEstablished;
  return true;
}

void SaySilence(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  if (e.ranks_lost > 0) {
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
