// Layer-wise scaling: the loss scale of one layer has fallen until none of its
// gradients is left, or is none that a gradient can be scaled with.

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <optional>

#include "diagnose/causes.h"
#include "diagnose/first_found.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kBelowOne = RuleId::kScaleBelowOne;
constexpr RuleId kUnrepresentable = RuleId::kScaleUnrepresentable;
constexpr double kMaxHalf = 65504;
constexpr uint64_t kCertain = 8;  // overflows in a row

bool IsOfLayer(const Finding& finding) {
  return (finding.rule == kBelowOne || finding.rule == kUnrepresentable) &&
         !finding.subject.op.empty();
}

std::optional<double> ScaleOf(const Finding& finding) {
  return NumberOf(finding, "layer_scale");
}

// What overflows although the layer's scale is so low.
void SayOfSize(const Finding& finding, CauseVerdict* verdict) {
  constexpr double kLeast = 0x1p-30;  // that it is nearly 0 says nothing more
  const std::optional<double> scale = ScaleOf(finding);
  if (!scale || !std::isfinite(*scale) || *scale < kLeast || *scale > 1) return;
  verdict->evidence.push_back(
      {EvidenceGrade::kEstablished,
       fmt::format("What overflows there is above {} without any scaling, or "
                   "infinite, or NaN: the layer's scale does not make it.",
                   InWords(kMaxHalf / *scale))});
}

}  // namespace

std::optional<CauseVerdict> LayerScaleCollapse(const Case& c) {
  const RunEvidence& e = c.evidence;
  // Where there is a scale of all, its own collapse is told.
  if (e.scale_now) return std::nullopt;
  const Finding* first = FirstFound(c.findings, IsOfLayer);
  if (first == nullptr) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kCollapseWithUnderflow;
  verdict.rules = {kBelowOne, kUnrepresentable};
  // No other scale can answer overflows. A NaN loss has another cause, which
  // makes them, too.
  const bool overflows = e.loss_nonfinite == 0;
  if (overflows)
    verdict.rules |= {RuleId::kOverflowStreak, RuleId::kOverflowRate,
                      RuleId::kNeverCalibrated};
  for (const Finding& finding : c.findings) {
    if (IsOfLayer(finding)) verdict.ops.push_back(finding.subject.op);
  }
  verdict.origin = first->subject;
  verdict.step = first->opened_step;
  verdict.grade = overflows && e.overflow_streak >= kCertain
                      ? EvidenceGrade::kEstablished
                      : EvidenceGrade::kSupported;
  verdict.sentence = first->sentence;
  if (overflows && e.overflows_last_50 > 0) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{} of the last {} attempts overflowed.",
                     e.overflows_last_50, e.attempts_last_50)});
    SayOfSize(*first, &verdict);
  }
  return verdict;
}

}  // namespace nanwatch
