// A scaler that is misused: its scale moves as it never could by itself, or it
// cannot settle.

#include <spdlog/fmt/fmt.h>

#include "diagnose/causes.h"
#include "diagnose/words.h"

namespace nanwatch {

std::optional<CauseVerdict> ScalerMisuse(const Case& c) {
  const RunEvidence& e = c.evidence;
  const Finding* first = nullptr;
  for (const Finding& finding : c.findings) {
    const bool scaler = finding.rule == 9 || finding.rule == 10 ||
                        finding.rule == 11 || finding.rule == 14;
    if (!scaler) continue;
    if (first == nullptr || finding.opened_step < first->opened_step) {
      first = &finding;
    }
  }
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kScalerMisuse;
  verdict.rules = {9, 10, 11, 14, 57};
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  const bool impossible =
      e.impossible_transitions > 0 && !e.scaler.empty() && !e.scaler_recognised;
  verdict.grade =
      impossible ? EvidenceGrade::kEstablished : EvidenceGrade::kSupported;
  verdict.sentence =
      impossible
          ? fmt::format(
                "The loss scale made {} move(s) that the declared "
                "scaler, {}, cannot make, first at step {}: {}",
                e.impossible_transitions, e.scaler, first->opened_step,
                first->sentence)
          : "The scaler is not used as it is meant to be: " + first->sentence;
  return verdict;
}

}  // namespace nanwatch
