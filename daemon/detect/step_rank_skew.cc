#include "detect/step_rank_skew.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int kSeen = 10;  // looks, one a second, that must agree; ours

constexpr ThresholdSpec kThresholds[] = {
    {"steps", 1, 0, 1e9, "steps", "ours: records of one moment are one apart"},
    {"hold", 60, 0, 1e6, "s", "ours"},
    {"clear_after", 10, 0, 1e6, "s", "ours"},
};

}  // namespace

constinit const RuleSpec StepRankSkew::kSpec = {
    RuleId::kStepRankSkew,
    "step_rank_skew",
    Family::kRank,
    "A rank counts other steps than the others, so that what they do together "
    "is not of the same step.",
    "For `hold` seconds, whenever a rank's newest record is about as new as "
    "the newest of all, the two are more than `steps` steps apart, twice the "
    "time between the two records being allowed for.",
    "Not so for `clear_after` seconds.",
    kThresholds,
    "Steps are compared at the times of the records, since batches arrive "
    "late."};

// -1: nothing to compare.
double StepRankSkew::Skew(const TimeContext& c, int32_t* rank,
                          int64_t* step) const {
  if (c.step_seconds_mean <= 0) return -1;
  const RankPulse* newest = nullptr;
  for (const RankPulse& pulse : c.ranks) {
    if (!pulse.connected || pulse.last_record == Time{}) continue;
    if (newest == nullptr || pulse.last_record > newest->last_record) {
      newest = &pulse;
    }
  }
  if (newest == nullptr) return -1;
  const double fresh = std::max(2.0, 4 * c.step_seconds_mean);
  double worst = -1;
  for (const RankPulse& pulse : c.ranks) {
    if (&pulse == newest || !pulse.connected || pulse.last_record == Time{}) {
      continue;
    }
    const double older = ToSeconds(newest->last_record - pulse.last_record);
    if (older > fresh) continue;
    const auto apart = static_cast<double>(newest->last_step - pulse.last_step);
    // An older record may be of an earlier step, never of a later one.
    const double allowed = 2 * older / c.step_seconds_mean;
    const double skew = apart >= 0 ? std::max(0.0, apart - allowed) : -apart;
    if (skew <= worst) continue;
    worst = skew;
    *rank = pulse.rank;
    *step = pulse.last_step;
  }
  return worst;
}

Severity StepRankSkew::OnTime(const TimeContext& c, Thresholds t) {
  int32_t rank = -1;
  int64_t step = 0;
  const double skew = Skew(c, &rank, &step);
  if (skew < 0) return severity_;
  if (skew <= t[kSteps]) {
    since_ = {};
    seen_ = 0;
    if (equal_since_ == Time{}) equal_since_ = c.now;
    if (severity_ != Severity::kNone &&
        ToSeconds(c.now - equal_since_) >= t[kClear]) {
      severity_ = Severity::kNone;
    }
    return severity_;
  }
  equal_since_ = {};
  if (since_ == Time{}) since_ = c.now;
  ++seen_;
  if (seen_ < kSeen || ToSeconds(c.now - since_) < t[kHold]) return severity_;
  if (severity_ == Severity::kNone) opened_step_ = c.last_step;
  last_step_ = c.last_step;
  rank_ = rank;
  rank_step_ = step;
  other_step_ = c.last_step;
  return severity_ = Severity::kWarning;
}

void StepRankSkew::Describe(Finding* finding) const {
  finding->opened_step = opened_step_;
  finding->last_step = last_step_;
  finding->subject.rank = rank_;
  finding->sentence = Sentence("Rank ", rank_, " is at step ", rank_step_,
                               " while the run is at ", other_step_,
                               ": they do not count the same steps.");
  finding->numbers = {{"rank_step", static_cast<double>(rank_step_), ""},
                      {"run_step", static_cast<double>(other_step_), ""}};
}

}  // namespace nanwatch
