#include "detect/stalled.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"silence", 1800, 1, 1e7, "s", "SageMaker StalledTrainingRule"},
    {"step_times", 10, 1, 1e6, "ratio",
     "ours: of the step time that 99 % stay below"},
    {"clear_steps", 3, 1, 1000, "steps", "ours"},
};

}  // namespace

constinit const RuleSpec Stalled::kSpec = {
    RuleId::kStalled,
    "stalled",
    Family::kTelemetry,
    "A rank sends no steps any more.",
    "A connected rank, or a lost one while others go on, is silent for the "
    "longer of silence and step_times times the run's slow step time; a "
    "warning before its first step.",
    "Nobody is silent and clear_steps more steps were made.",
    kThresholds};

Severity Stalled::Judge(const TimeContext& c, Thresholds t) {
  const double limit =
      std::max(t[kSilence], t[kStepTimes] * c.step_seconds_p99);
  bool any_connected = false;
  Time newest{};
  for (const RankPulse& pulse : c.ranks) {
    any_connected = any_connected || pulse.connected;
    newest = std::max(newest, pulse.last_record);
  }
  if (!any_connected) return Severity::kNone;
  Severity worst = Severity::kNone;
  double longest = 0;
  for (const RankPulse& pulse : c.ranks) {
    const bool begun = pulse.last_record != Time{};
    const double silent =
        ToSeconds(c.now - (begun ? pulse.last_record : c.opened));
    const bool others_went_on = newest > pulse.last_record;
    if (silent < limit || (!pulse.connected && !others_went_on)) continue;
    worst = std::max(worst, begun ? Severity::kCritical : Severity::kWarning);
    if (silent <= longest) continue;
    longest = silent;
    rank_ = pulse.rank;
    lost_ = !pulse.connected;
    silent_s_ = silent;
    limit_s_ = limit;
  }
  return worst;
}

Severity Stalled::OnTime(const TimeContext& c, Thresholds t) {
  const Severity now = Judge(c, t);
  if (now != Severity::kNone) {
    if (severity_ == Severity::kNone) opened_step_ = c.last_step;
    last_step_ = c.last_step;
    severity_ = std::max(severity_, now);
  } else if (severity_ != Severity::kNone &&
             c.last_step >= last_step_ + static_cast<int64_t>(t[kClearSteps])) {
    severity_ = Severity::kNone;
  }
  return severity_;
}

void Stalled::Describe(Finding* finding) const {
  finding->opened_step = opened_step_;
  finding->last_step = last_step_;
  finding->sentence =
      Sentence("Rank ", rank_, lost_ ? " is lost and" : " is connected but",
               " sent no step for ", silent_s_, " s (limit ", limit_s_,
               " s); the run's last step is ", last_step_, ".");
  finding->numbers = {{"silent", silent_s_, "s"},
                      {"limit", limit_s_, "s"},
                      {"rank", static_cast<double>(rank_), ""}};
}

}  // namespace nanwatch
