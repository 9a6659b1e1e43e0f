#include "detect/scale_rank_mismatch.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 2, 1, 1000, "steps", "ours: one step may be a torn record"},
    {"clear_after", 50, 1, 100000, "steps", "ours"},
};

}  // namespace

constinit const RuleSpec ScaleRankMismatch::kSpec = {
    RuleId::kScaleRankMismatch,
    "scale_rank_mismatch",
    Family::kScale,
    "Ranks that must agree use different loss scales, so their gradients are "
    "summed in different units.",
    "The scales of one step differ within the group at hold steps in a row.",
    "Equal for clear_after steps.",
    kThresholds};

Severity ScaleRankMismatch::OnAligned(const AlignedContext& c, Thresholds t) {
  const AlignedStep& s = c.step;
  if (s.scales < 2) return episode_.severity();
  // Not SameScale: every rank of a group prints alike. NaN differs from all.
  const bool equal = s.scale_max - s.scale_min <= 1e-6 * s.scale_max ||
                     s.scale_max == s.scale_min;
  if (equal) {
    differing_ = 0;
    return episode_.On(Severity::kNone, true, s.step,
                       static_cast<int64_t>(t[kClear]));
  }
  if (++differing_ == 1 && !episode_.open()) first_step_ = s.step;
  if (differing_ < t[kHold]) {
    return episode_.On(Severity::kNone, false, s.step, 1);
  }
  min_ = s.scale_min;
  max_ = s.scale_max;
  min_rank_ = s.scale_min_rank;
  max_rank_ = s.scale_max_rank;
  const bool opens = !episode_.open();
  const Severity severity = episode_.On(Severity::kCritical, false, s.step, 1);
  if (opens) {
    episode_.OpenedAt(first_step_);
    // The odd one out; of two alike the lower one, which fell alone.
    odd_rank_ =
        s.scales_at_max < s.scales_at_min ? s.scale_max_rank : s.scale_min_rank;
  }
  return severity;
}

void ScaleRankMismatch::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->subject.rank = odd_rank_;  // its node is to be looked at
  finding->sentence =
      Sentence("Ranks that must agree use different loss scales since step ",
               finding->opened_step, ": ", min_, " on rank ", min_rank_, ", ",
               max_, " on rank ", max_rank_,
               "; the overflow flag is not reduced over the ranks.");
  finding->numbers = {{"scale_min", min_, ""},
                      {"scale_max", max_, ""},
                      {"rank_min", static_cast<double>(min_rank_), ""},
                      {"rank_max", static_cast<double>(max_rank_), ""}};
}

}  // namespace nanwatch
