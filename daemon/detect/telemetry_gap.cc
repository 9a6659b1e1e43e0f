#include "detect/telemetry_gap.h"

#include <algorithm>
#include <string>

#include "base/saturating_add.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"lost_for", 60, 0, 1e7, "s", "ours: a restart of one rank is shorter"},
    {"clear_after", 60, 1, 1e7, "s", "ours"},
};

constexpr char kGiveARunId[] =
    " here: no run id was given, so each may be a run of its own; set "
    "NANWATCH_RUN_ID alike on every rank";

}  // namespace

constinit const RuleSpec TelemetryGap::kSpec = {
    RuleId::kTelemetryGap,
    "telemetry_gap",
    Family::kTelemetry,
    "Records of this run are missing, so verdicts may miss something.",
    "A client dropped records, a rank is lost and others are lost_for ahead "
    "of it, or lost_for after the run opened, while others make steps, fewer "
    "ranks than its world size ever did (for information where no run id was "
    "given).",
    "Nothing dropped and nobody missing for clear_after.",
    kThresholds};

Severity TelemetryGap::OnTime(const TimeContext& c, Thresholds t) {
  uint64_t steps = 0;
  uint64_t ops = 0;
  Time newest{};
  for (const RankPulse& pulse : c.ranks) {
    steps = SaturatingAdd(steps, pulse.dropped_steps);
    ops = SaturatingAdd(ops, pulse.dropped_ops);
    if (pulse.connected) newest = std::max(newest, pulse.last_record);
  }
  int32_t lost = 0;
  int32_t lost_rank = -1;
  for (const RankPulse& pulse : c.ranks) {
    if (pulse.connected || pulse.last_record == Time{}) continue;
    if (newest <= pulse.last_record) continue;
    if (ToSeconds(newest - pulse.last_record) < t[kLostFor]) continue;
    if (lost++ == 0) lost_rank = pulse.rank;
  }
  // Ranks that never opened, once the others had time to.
  const int32_t never = c.ranks_opened > 0 && newest > c.opened &&
                                ToSeconds(newest - c.opened) >= t[kLostFor]
                            ? std::max(0, c.run.world_size - c.ranks_opened)
                            : 0;
  const uint64_t all = SaturatingAdd(steps, ops);
  const bool dropped = all > known_dropped_;
  const bool missing = lost > 0 || never > 0;
  // A note where the run id was guessed: a warning of each of a thousand ranks,
  // all of one mistake, would help nobody.
  const bool alone = never > 0 && lost == 0 && !dropped && c.run.run_id_guessed;
  if (severity_ == Severity::kInfo && !alone && (dropped || missing)) {
    severity_ = Severity::kWarning;
  } else if (severity_ == Severity::kNone && (dropped || missing)) {
    severity_ = alone ? Severity::kInfo : Severity::kWarning;
    opened_step_ = c.last_step;
  } else if (severity_ == Severity::kNone) {
    base_steps_ = steps;
    base_ops_ = ops;
  }
  known_dropped_ = all;
  if (severity_ == Severity::kNone) return severity_;
  last_step_ = c.last_step;
  dropped_steps_ = steps - base_steps_;
  dropped_ops_ = ops - base_ops_;
  if (dropped || missing) {
    last_trouble_ = c.now;
    lost_ = lost;
    lost_rank_ = lost_rank;
    never_opened_ = never;
    world_size_ = c.run.world_size;
    guessed_ = c.run.run_id_guessed;
  } else if (ToSeconds(c.now - last_trouble_) >= t[kClear]) {
    severity_ = Severity::kNone;
    base_steps_ = steps;
    base_ops_ = ops;
    lost_ = 0;
    never_opened_ = 0;
  }
  return severity_;
}

void TelemetryGap::Describe(Finding* finding) const {
  finding->opened_step = opened_step_;
  finding->last_step = last_step_;
  std::string what;
  const auto add = [&what](const std::string& more) {
    what += (what.empty() ? " " : " and ") + more;
  };
  if (dropped_steps_ > 0 || dropped_ops_ > 0) {
    add(Sentence("clients dropped ", dropped_steps_, " steps and ",
                 dropped_ops_, " op statuses"));
  }
  if (lost_ > 0) {
    add(lost_ == 1
            ? Sentence("rank ", lost_rank_, " is lost while others go on")
            : Sentence(lost_, " ranks are lost while others go on (rank ",
                       lost_rank_, " first)"));
  }
  if (never_opened_ > 0) {
    add(Sentence(never_opened_, " of ", world_size_, " ranks never opened"));
    // Then each rank is a run of its own.
    if (guessed_) what += kGiveARunId;
  }
  finding->sentence = "Records are missing:" + what + ".";
  finding->numbers = {
      {"dropped_steps", static_cast<double>(dropped_steps_), "records"},
      {"dropped_ops", static_cast<double>(dropped_ops_), "records"},
      {"lost_ranks", static_cast<double>(lost_), "ranks"},
      {"never_opened", static_cast<double>(never_opened_), "ranks"}};
}

}  // namespace nanwatch
