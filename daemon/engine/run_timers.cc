// Time passes. Everything that waits is looked at once a second of engine time,
// at the run's own seconds: live and replayed runs do it at the same moments.

#include <algorithm>

#include "base/saturating_add.h"
#include "engine/run_state.h"

namespace nanwatch {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
// No rule's wait is as long; holds and closes are looked for beside it.
constexpr Duration kQuiet = std::chrono::hours(1);
// Looks at a run while its silence grows e-fold: a rule that counts seconds is
// late by 0.2 % of them.
constexpr int64_t kLooksWhileQuiet = 512;
// Op statuses whose step record does not come are judged without it.
constexpr Duration kOpsAlone = std::chrono::seconds(1);
// The close that a lost run asks for may have been lost itself.
constexpr Duration kAskAgain = std::chrono::seconds(60);
// What is found of the time itself (so long is it silent) is told anew.
constexpr Duration kTellAgain = std::chrono::seconds(60);

}  // namespace

std::optional<Time> RunState::NextTimer() const {
  if (!ended_) return next_tick_;
  const Duration after = shared_->options.ended_run_leaves_after;
  return after == kNever ? std::optional<Time>() : *ended_ + after;
}

bool RunState::Left(Time now) const {
  const std::optional<Time> leaves = ended_ ? NextTimer() : std::nullopt;
  return leaves && *leaves <= now;
}

void RunState::Advance(Time now, Time until, Effects* effects) {
  if (closed() || now < next_tick_) return;
  if (!shared_->options.times_are_real) {
    const auto more = (until - now) / kTick;
    now += more * kTick;
    next_tick_ += more * kTick;
    if (heard_ > more)
      heard_ -= static_cast<uint8_t>(more);
    else
      heard_ = std::min<uint8_t>(heard_, 1);
  }
  Tick(now, effects);
  next_tick_ = now + UntilNextTick(now);
}

// A run that says nothing is looked at less and less often, so that
// years of silence cost no more than hours; what is due is not overslept.
Duration RunState::UntilNextTick(Time now) const {
  const Time heard = std::max({opened_, awake_since_, last_record_});
  const bool waits = std::any_of(groups_.begin(), groups_.end(),
                                 [](const auto& g) { return !g.ring.empty(); });
  if (now - heard <= kQuiet || heard_ > 0 || waits ||
      !shared_->options.times_are_real) {
    return kTick;
  }
  int64_t ticks = 1 + (now - heard - kQuiet) / kLooksWhileQuiet / kTick;
  for (const std::optional<Time>& due : {book_.NextTimer(), close_due_}) {
    if (!due) continue;
    ticks = std::min(ticks, std::max<int64_t>(
                                1, (*due - now + kTick - Duration(1)) / kTick));
  }
  return ticks * kTick;
}

void RunState::Rouse(Time now) {
  if (closed() || next_tick_ <= now + kTick) return;
  next_tick_ -= (next_tick_ - now - Duration(1)) / kTick * kTick;
}

void RunState::SkipTo(Time now) {
  awake_since_ = now;
  if (!closed()) next_tick_ = now + kTick;
  NotAfter(now);
}

void RunState::PutOff(Duration skipped) {
  if (lost_since_) *lost_since_ += skipped;
  if (close_due_) *close_due_ += skipped;
}

void RunState::NotAfter(Time now) {
  const auto clamp = [now](auto*... times) {
    ((*times = std::min(*times, now)), ...);
  };
  clamp(&opened_, &last_record_, &judged_at_);
  if (ended_) clamp(&*ended_);
  if (lost_since_) clamp(&*lost_since_);
  if (close_due_) {
    *close_due_ =
        std::min(*close_due_, now + shared_->options.lost_run_closes_after);
  }
  for (const auto& rank : ranks_) {
    if (rank->last_record > now) Touch(*rank);
    clamp(&rank->last_record, &rank->last_op_time);
  }
  for (AgreementState& group : groups_) group.ring.NotAfter(now);
  dirty_ |= book_.NotAfter(now);
}

void RunState::Tick(Time now, Effects* effects) {
  for (const auto& rank : ranks_) {
    if (!rank->ops.pending() || rank->totals.steps > 0) continue;
    if (now - rank->last_op_time < kOpsAlone) continue;
    rank->op_only = true;
    JudgeWaitingOps(rank.get(), INT64_MAX, effects);
    Touch(*rank);
  }
  for (uint32_t g = 0; g < groups_.size(); ++g) JudgeAligned(now, g);
  JudgeTime(now);
  if (TimeToRenew(now)) Renew(now, effects);
  JudgeIfChanged(now, last_step_, effects);
  const std::optional<Time> hold = book_.NextTimer();
  if (hold && *hold <= now) {
    std::vector<Incident> changed;
    book_.Advance(Raise(now), &changed);
    dirty_ = true;
    Tell(&changed, effects);
  }
  if (close_due_ && *close_due_ <= now) {
    close_due_ = now + kAskAgain;
    effects->close.push_back(key_);
  }
}

// While records come, the diagnosis is made anew every so many updates
// (run_steps.cc): the last ones before a pause would not be in it.
bool RunState::TimeToRenew(Time now) {
  const bool pauses = heard_ > 0 && --heard_ == 0;
  if (board_.empty()) return false;
  if (pauses) return true;
  for (uint32_t i = 0; i < TimeRules::kSize; ++i) {
    if (board_.Find({FindingKey::List::kTime, -1, 0, i}) != nullptr) {
      return now - judged_at_ >= kTellAgain;
    }
  }
  return false;
}

void RunState::JudgeTime(Time now) {
  if (lost_since_) return;
  std::vector<RankPulse>& pulses = shared_->pulses;
  pulses.clear();
  uint64_t dropped_steps = 0;  // by ranks that closed: missing all the same
  uint64_t dropped_ops = 0;
  for (const auto& rank : ranks_) {
    if (rank->life == LifeState::kClosed) {
      dropped_steps = SaturatingAdd(dropped_steps, rank->totals.dropped_steps);
      dropped_ops = SaturatingAdd(dropped_ops, rank->totals.dropped_ops);
      continue;
    }
    // Nobody could be heard while the daemon was away.
    const Time last = rank->last_record == Time{}
                          ? rank->last_record
                          : std::max(rank->last_record, awake_since_);
    pulses.push_back({.rank = rank->description.rank,
                      .connected = rank->life == LifeState::kOpen,
                      .last_record = last,
                      .last_step = rank->totals.steps > 0 ? rank->last_step : 0,
                      .dropped_steps = rank->totals.dropped_steps,
                      .dropped_ops = rank->totals.dropped_ops});
  }
  if (pulses.empty()) return;
  RankPulse& first = pulses.front();
  first.dropped_steps = SaturatingAdd(first.dropped_steps, dropped_steps);
  first.dropped_ops = SaturatingAdd(first.dropped_ops, dropped_ops);
  const RankState* lowest = Lowest();
  const int64_t step = last_step_ == INT64_MIN ? 0 : last_step_;
  const TimeContext context{
      .run = description_,
      .now = now,
      .opened = std::max(opened_, awake_since_),
      .ranks = pulses,
      .last_step = step,
      .step_seconds_p99 = lowest == nullptr ? 0 : lowest->pace.p99_seconds(),
      .step_seconds_mean = lowest == nullptr ? 0 : lowest->pace.mean_seconds(),
      .ranks_opened = static_cast<int32_t>(ranks_.size()),
      .rank_end = rank_end_ ? &*rank_end_ : nullptr,
      .data_again = batches_.again()};
  const auto put = [&](size_t i) {
    Changed({FindingKey::List::kTime, -1, 0, static_cast<uint32_t>(i)},
            time_rules_, Blank(Subject{}, step, now));
  };
  time_rules_.On(context, shared_->tables->time(), put);
  // What was taken off the board while all ranks were lost comes back with
  // them; what stays says how much it is by now.
  for (uint32_t i = 0; i < TimeRules::kSize; ++i) {
    if (time_rules_.severity(i) == Severity::kNone ||
        !shared_->tables->time().enabled[i]) {
      continue;
    }
    Finding* const held = board_.Find({FindingKey::List::kTime, -1, 0, i});
    if (held != nullptr) {
      time_rules_.Describe(i, held);
    } else {
      put(i);
    }
  }
}

void RunState::RulesChanged(Time now, Effects* effects) {
  book_.SetPolicy(shared_->options.alert);
  if (closed()) return;
  if (lost_since_) {
    close_due_ =
        std::max(now, *lost_since_ + shared_->options.lost_run_closes_after);
  }
  const RuleTables& tables = *shared_->tables;
  for (const FindingKey& key : board_.Keys()) {
    const bool on =
        key.list == FindingKey::List::kStep ? tables.step().enabled[key.rule]
        : key.list == FindingKey::List::kOp ? tables.op().enabled[key.rule]
        : key.list == FindingKey::List::kAligned
            ? tables.aligned().enabled[key.rule]
        : key.list == FindingKey::List::kTime ? tables.time().enabled[key.rule]
        : key.list == FindingKey::List::kLayer
            ? tables.layers().enabled[key.rule]
        : key.list == FindingKey::List::kLayerMove
            ? tables.layer_moves().enabled[key.rule]
        : key.list == FindingKey::List::kBench
            ? tables.bench().enabled[key.rule]
            : true;
    if (!on) Remove(key);
  }
  for (const auto& rank : ranks_) {
    for (OptimizerTrack& track : rank->tracks) track.rules.Rouse();
  }
  JudgeIfChanged(now, last_step_, effects);
  for (const Incident& incident : book_.incidents()) {
    if (!incident.muted) StopOn(incident, effects);
  }
}

}  // namespace nanwatch
