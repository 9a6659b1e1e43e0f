#include "detect/skip_rank_mismatch.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 200, 1, 100000, "steps", "ours"},
};

}  // namespace

constinit const RuleSpec SkipRankMismatch::kSpec = {
    RuleId::kSkipRankMismatch,
    "skip_rank_mismatch",
    Family::kScale,
    "Some ranks skipped an update that others applied, so their weights "
    "differ from there on.",
    "One step that is skipped on some ranks of a group only.",
    "clear_after steps on which all agree.",
    kThresholds};

Severity SkipRankMismatch::OnAligned(const AlignedContext& c, Thresholds t) {
  const AlignedStep& s = c.step;
  if (s.skipped + s.applied < 2) return episode_.severity();
  if (s.skipped == 0 || s.applied == 0) {
    return episode_.On(Severity::kNone, true, s.step, t[kClear]);
  }
  skipped_ = s.skipped;
  applied_ = s.applied;
  skipped_rank_ = s.first_skipped_rank;
  applied_rank_ = s.first_applied_rank;
  step_ = s.step;
  return episode_.On(Severity::kCritical, false, s.step, 1);
}

void SkipRankMismatch::Describe(Finding* finding) const {
  episode_.Describe(finding);
  // The odd one out, where there is a majority: its node is to be looked at.
  if (skipped_ != applied_) {
    finding->subject.rank = skipped_ < applied_ ? skipped_rank_ : applied_rank_;
  }
  finding->sentence =
      Sentence("At step ", step_, " ", skipped_,
               skipped_ == 1 ? " rank" : " ranks", " skipped the update (rank ",
               skipped_rank_, " first) and ", applied_, " applied it (rank ",
               applied_rank_, " first): their weights differ from here on.");
  finding->numbers = {{"skipped", static_cast<double>(skipped_), "ranks"},
                      {"applied", static_cast<double>(applied_), "ranks"},
                      {"step", static_cast<double>(step_), ""}};
}

}  // namespace nanwatch
