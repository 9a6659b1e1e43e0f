// Layer-wise scaling: the loss scale of one layer has fallen until none of its
// gradients is left, or is none that a gradient can be scaled with.

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <optional>

#include "diagnose/cause_form.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

constexpr uint64_t kCertain = 8;  // overflows in a row; ours

constexpr RuleSet kLow = {kScaleBelowOne, kScaleUnrepresentable, kScaleAtFloor,
                          kScaleCollapse};

// Of these the layer's gradient shows the overflows.
constexpr RuleSet kOverflows = {kScaleAtFloor, kScaleCollapse};

bool IsOfLayer(const Finding& finding) {
  return kLow.has(finding.rule) && !finding.subject.op.empty();
}

// True when no other scale can answer the overflows. A NaN loss has another
// cause, which makes them, too.
bool AnswersOverflows(const RunEvidence& e) { return e.loss_nonfinite == 0; }

// Says what overflows although the layer's scale is so low.
void SayOfSize(const Finding& finding, Match* match) {
  const std::optional<double> scale = NumberOf(finding, "layer_scale");
  if (!scale || !std::isfinite(*scale) || *scale > 1) return;
  match->Support(EvidenceGrade::kEstablished,
                 WhatOverflows(*scale, "there", "the layer's scale"));
}

}  // namespace

bool WhenLayerScaleCollapsed(const Facts& f, const Matches&, Match* match) {
  const RunEvidence& e = f.evidence;
  // Where there is a scale of all, its own collapse is the cause.
  if (e.scale_now) return false;
  if (!match->BeginAt(f.found.FirstWhere(IsOfLayer))) return false;
  CauseVerdict& verdict = match->verdict;
  const bool overflows = AnswersOverflows(e);
  if (overflows) {
    verdict.rules |= {kOverflowStreak, kOverflowRate, kNeverCalibrated};
  }
  for (const Finding& finding : f.found) {
    if (IsOfLayer(finding)) verdict.ops.push_back(finding.subject.op);
  }
  // What the layer's own gradient showed goes on behind it.
  if (overflows && kOverflows.has(match->finding->rule)) {
    verdict.rules |=
        {kOpOverflowOrigin, kOpOverflowPropagated, kPersistentOpOverflow,
         kOpSaturation,     kOpInternalOverflow,   kNearOverflow};
    for (const OpEvidence& op : e.ops) {
      if (IsGradient(op)) verdict.ops.push_back(op.op.name);
    }
  }
  verdict.grade = overflows && e.overflow_streak >= kCertain
                      ? EvidenceGrade::kEstablished
                      : EvidenceGrade::kSupported;
  return true;
}

void SayLayerScaleCollapsed(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  const Finding& first = *match->finding;
  match->Say(Tensed{match->Quote(first, InSummary::kAll), first.sentence_over});
  if (!AnswersOverflows(e) || e.overflows_last_50 == 0) return;
  match->Support(EvidenceGrade::kEstablished,
                 fmt::format("{} of the last {} updates overflowed.",
                             e.overflows_last_50, e.updates_last_50));
  SayOfSize(*match->finding, match);
}

}  // namespace nanwatch
