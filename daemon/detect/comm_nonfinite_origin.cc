#include "detect/comm_nonfinite_origin.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"skipped_hold", 10, 1, 1000, "steps",
     "ours: a sum in fp16 overflows while a scaler searches its scale"},
    {"clear_after", 50, 1, 100000, "steps", "ours"},
};

}  // namespace

constinit const RuleSpec CommNonfiniteOrigin::kSpec = {
    RuleId::kCommNonfiniteOrigin,
    "comm_nonfinite_origin",
    Family::kOp,
    "A collective made NaN or infinities out of inputs that were clean on "
    "every rank.",
    "All ranks of the group sent op statuses of the step, on one at least the "
    "first bad one is a collective's result of clean inputs, and nowhere is it "
    "anything else (msprobe's rule for communication). For information where "
    "other groups of the run were not compared, and while the update is "
    "skipped for it, unless at skipped_hold steps in a row.",
    "clear_after steps without one.",
    kThresholds,
    "One rank cannot tell a NaN that a collective made from one that "
    "another rank brought in. So all ranks are compared side by side, and "
    "the rule is silent unless every rank of the group sent op statuses of "
    "the step."};

Severity CommNonfiniteOrigin::OnAligned(const AlignedContext& c, Thresholds t) {
  const AlignedStep& s = c.step;
  if (s.ops_collected == 0) return episode_.severity();
  const bool all = s.ops_collected >= s.expected;
  if (s.collective_first == 0 || s.bad_first > 0 || !all) {
    held_ = 0;
    return episode_.On(Severity::kNone, s.collective_first == 0, s.step,
                       t[kClear]);
  }
  ++held_;
  ranks_ = s.collective_first;
  nan_ranks_ = s.collective_nan;
  first_rank_ = s.collective_rank;
  skipped_ = s.skipped > 0;
  const bool whole_run = s.expected >= c.run.world_size;
  const bool mild = !whole_run || (skipped_ && held_ < t[kHold]);
  return episode_.On(mild ? Severity::kInfo : Severity::kCritical, false,
                     s.step, 1);
}

void CommNonfiniteOrigin::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->subject.rank = first_rank_;
  finding->sentence =
      Sentence("The result of a collective is ",
               nan_ranks_ > 0 ? "NaN" : "infinite", " on ", ranks_,
               ranks_ == 1 ? " rank, rank " : " ranks, rank ", first_rank_,
               " first, though its inputs are clean on every rank of the "
               "group: the communication itself, or a sum beyond the dtype");
  finding->sentence += skipped_ ? "; the update was skipped." : ".";
  finding->numbers = {{"ranks", static_cast<double>(ranks_), "ranks"},
                      {"nan_ranks", static_cast<double>(nan_ranks_), "ranks"}};
}

}  // namespace nanwatch
