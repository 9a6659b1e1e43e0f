// Collapse: the scale has fallen so far that small gradients become zero.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/words.h"

namespace nanwatch {

std::optional<CauseVerdict> CollapseWithUnderflow(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (!e.scaler_dynamic || !e.scale_now || !e.scale_max) return std::nullopt;
  constexpr double kCollapse = 256;    // rule 4
  constexpr double kUnderflow = 0.10;  // rule 31
  const double floor = std::max(e.floor, 1.0);
  const bool low = *e.scale_now <= floor;
  const bool fell = *e.scale_now * kCollapse <= *e.scale_max;
  const bool underflows = e.underflow_fraction.value_or(0) > kUnderflow;
  if (!low && !(fell && (underflows || e.overflows_last_50 > 0))) {
    return std::nullopt;
  }
  CauseVerdict verdict;
  verdict.cause = Cause::kCollapseWithUnderflow;
  verdict.grade = underflows && fell ? EvidenceGrade::kEstablished
                  : low              ? EvidenceGrade::kSupported
                                     : EvidenceGrade::kHypothesis;
  verdict.rules = {1, 2, 3, 4, 5, 6, 7, 9, 30, 31, 32, 36, 39};
  verdict.step = e.first_overflow_step < 0 ? 0 : e.first_overflow_step;
  constexpr double kMinSubnormal = 0x1p-24;
  const std::string lost = *e.scale_now > 0
                               ? "in fp16 gradients below " +
                                     InWords(kMinSubnormal / *e.scale_now) +
                                     " are lost."
                               : "every gradient is lost.";
  verdict.sentence =
      fmt::format("The loss scale fell from {} to {}: {}",
                  InWords(*e.scale_max), InWords(*e.scale_now), lost);
  if (e.underflow_fraction) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{:.3g} % of the gradient elements underflow.",
                     100 * *e.underflow_fraction)});
  }
  if (e.attempts_to_floor && !low) {
    verdict.evidence.push_back(
        {EvidenceGrade::kSupported,
         fmt::format("At this rate the floor is reached in {} steps.",
                     *e.attempts_to_floor)});
  }
  const std::string updates = UpdatesInWords(e);
  if (!updates.empty()) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished, "Also: " + updates + "."});
  }
  return verdict;
}

}  // namespace nanwatch
