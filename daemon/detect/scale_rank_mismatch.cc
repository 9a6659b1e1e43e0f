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
  if (s.scale.count < 2) return episode_.severity();
  // Not SameScale: every rank of a group prints alike. NaN differs from all.
  const bool equal = s.scale.max - s.scale.min <= 1e-6 * s.scale.max ||
                     s.scale.max == s.scale.min;
  if (!equal) {
    min_ = s.scale.min;
    max_ = s.scale.max;
    min_rank_ = s.scale.min_rank;
    max_rank_ = s.scale.max_rank;
    // The odd one out; of two alike the lower one, which fell alone.
    if (!episode_.open()) {
      odd_rank_ = s.scale.at_max < s.scale.at_min ? max_rank_ : min_rank_;
    }
  }
  return episode_.OnRecord(!equal, t[kHold], Severity::kCritical, s.step,
                           t[kClear]);
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
