// Ranks open, are lost, close; the run ends.

#include <algorithm>
#include <utility>

#include "base/fnv1a.h"
#include "base/saturating_add.h"
#include "detect/program.h"
#include "detect/program_ended.h"
#include "engine/run_state.h"
#include "model/step_stretches.h"

namespace nanwatch {
namespace {

// "Ended without close" is a gap in the telemetry like others: it is rule
// telemetry_gap's, with the run as its subject.
constexpr FindingKey kEndedWithoutClose{FindingKey::List::kLife, -1, 0, 0};

uint64_t TimerOrder(const RunKey& key) {
  Fnv1a hash;
  hash.PutSized(key.run_id);
  hash.Put(static_cast<uint64_t>(key.attempt));
  return hash.value();
}

}  // namespace

RunState::RunState(RunKey key, uint32_t slot, EngineShared* shared)
    : shared_(shared),
      slot_(slot),
      key_(std::move(key)),
      timer_order_(TimerOrder(key_)),
      book_(key_, shared->options.alert) {
  shared_->all += held_;
}

RunState::~RunState() {
  CountForNobody();
  shared_->all -= held_;
  shared_->open_ranks -= static_cast<size_t>(open_ranks_);
}

void RunState::SetLife(RankState* rank, LifeState life) {
  if (rank->life == LifeState::kOpen && life != LifeState::kOpen) Leave(*rank);
  CountLife(rank->life, -1);
  CountLife(life, 1);
  rank->life = life;
  if (life == LifeState::kOpen) return;
  bad_loss_.Left(rank->description.rank);
  for (OptimizerTrack& track : rank->tracks) changes_ += track.outliers.End();
}

void RunState::CountLife(LifeState life, int more) {
  if (life == LifeState::kLost) lost_ranks_ += more;
  if (life != LifeState::kOpen) return;
  open_ranks_ += more;
  shared_->open_ranks += static_cast<size_t>(more);
}

RankState* RunState::FindRank(int32_t rank) const {
  const auto at = std::lower_bound(
      ranks_.begin(), ranks_.end(), rank,
      [](const auto& r, int32_t n) { return r->description.rank < n; });
  return at != ranks_.end() && (*at)->description.rank == rank ? at->get()
                                                               : nullptr;
}

std::optional<double> RunState::HighestGoodScale() const {
  double highest = 0;
  for (const auto& rank : ranks_) {
    for (const OptimizerTrack& track : rank->tracks) {
      highest = std::max(highest, track.scaler.highest_good_scale());
    }
  }
  return highest > 0 ? std::optional<double>(highest) : std::nullopt;
}

// Of a rank with several optimizers nobody knows whose loss is whose.
std::optional<LossReached> RunState::ReachedLoss() const {
  for (const auto& rank : ranks_) {
    if (rank->tracks.size() != 1) continue;
    auto reached = rank->tracks.front().rules.get<LossHighPlateau>().Reached();
    if (reached) return reached;
  }
  return loss_before_;
}

std::vector<PastTrouble> RunState::Troubles() const {
  return book_.Troubles(troubles_before_,
                        last_step_ == INT64_MIN ? 0 : last_step_);
}

// At this very moment: then it is known better by now than when its end was
// written down. Earlier: as then.
void RunState::Follow(Time now, const RunState& before) {
  if (before.ended_ == now) troubles_before_ = before.Troubles();
}

void RunState::WriteBefore(RunOpened* opened) const {
  opened->good_scale_before = HighestGoodScale();
  opened->loss_before = ReachedLoss();
  if (!batches_.first().batches.empty()) {
    opened->batches_before = batches_.first();
  }
  // Its own attempts before are others for the next one.
  if (bench_.any() && !bench_.benchmark()->earlier_attempt) {
    opened->benchmark = bench_.benchmark();
  }
  opened->troubles_before = Troubles();
  opened->updates_before = updates_before_;
  if (const RankState* lowest = Lowest()) {
    opened->updates_before += lowest->tally().updates();
  }
}

// A log may show later what the program scales with, and what else it is said
// of the run.
void RunState::Learn(const RunDescription& description) {
  for (const auto& [name, value] : description.settings) {
    description_.settings[name] = value;
  }
  const std::string& framework = description.framework;
  if (framework.empty() || framework == description_.framework) return;
  description_.framework = framework;
  for (const auto& rank : ranks_) {
    for (OptimizerTrack& track : rank->tracks) track.scaler.Expect(framework);
  }
}

// Not of a rank alone: all of a run train for the same.
void RunState::Learn(const StepColumns& columns) {
  if (columns.seen.follows_rewards && !FollowsRewards(description_)) {
    description_.settings["trains_on"] = "rewards";
    for (const auto& rank : ranks_) {
      for (OptimizerTrack& track : rank->tracks) track.series.kind = {};
    }
  }
  if (columns.seen.objective_moves) {
    // A client looks at one in eight updates.
    const int64_t before = std::max<int64_t>(0, columns.step.front() - 8);
    AddStretch(before, std::max(before, columns.step.back()),
               &description_.settings["objective_moves"]);
  }
}

void RunState::Open(Time now, const RunOpened& opened) {
  dirty_ = true;
  const size_t bytes = BytesHeldFor(description_);
  if (opened_ == Time{} || assumed_) {
    CountForNobody();
    description_ = opened.description;
  }
  CountForOwner();
  Learn(opened.description);
  HoldRunBytes(BytesHeldFor(description_), bytes);
  if (opened.good_scale_before) good_scale_before_ = *opened.good_scale_before;
  if (opened.loss_before) loss_before_ = opened.loss_before;
  if (opened.batches_before) batches_.Continue(*opened.batches_before);
  updates_before_ = std::max(updates_before_, opened.updates_before);
  if (opened.benchmark != nullptr) {
    SetBenchmark(now, {.benchmark = opened.benchmark}, nullptr);
  }
  if (!opened.troubles_before.empty()) {
    troubles_before_ = opened.troubles_before;
  }
  if (last_step_ == INT64_MIN) begun_ = true;
  if (opened_ == Time{}) opened_ = now;
  // A rank that comes late finds the others closed: the run goes on.
  GoOn();
  ended_.reset();
  end_reason_.clear();
  next_tick_ = now + std::chrono::seconds(1);
}

RankState* RunState::AddRank(const RankDescription& description) {
  auto rank = std::make_unique<RankState>();
  rank->description = description;
  if (description_.scaler.kind == ScalingKind::kLayerwise) {
    rank->ops.layers().Declare();
  }
  RankState* const added = rank.get();
  Hold({.ranks = 1, .run_bytes = BytesHeldFor(description)});
  CountLife(added->life, 1);
  const auto at = std::lower_bound(
      ranks_.begin(), ranks_.end(), description.rank,
      [](const auto& r, int32_t n) { return r->description.rank < n; });
  const bool last = at == ranks_.end();
  const auto index = static_cast<size_t>(at - ranks_.begin());
  ranks_.insert(at, std::move(rank));
  added->index = static_cast<uint32_t>(index);
  // It came between others: from it on every block of the view is another one.
  if (!last) {
    misplaced_ = std::min(misplaced_, index);
    blocks_.resize(std::min(blocks_.size(), index / kRankBlock));
  }
  return added;
}

void RunState::Reindex() {
  for (; misplaced_ < ranks_.size(); ++misplaced_) {
    ranks_[misplaced_]->index = static_cast<uint32_t>(misplaced_);
  }
  misplaced_ = SIZE_MAX;
}

RankState* RunState::OpenRank(Time now, const RankOpened& opened,
                              Effects* effects) {
  RankState* rank = FindRank(opened.rank.rank);
  if (rank == nullptr) {
    rank = AddRank(opened.rank);
  } else if (rank->life == LifeState::kOpen) {
    Leave(*rank);
  }
  HoldRunBytes(BytesHeldFor(opened.rank), BytesHeldFor(rank->description));
  rank->description = opened.rank;
  rank->clock_skew_us = opened.clock_skew_us;
  SetLife(rank, LifeState::kOpen);
  GoOn();
  if (rank_end_ && rank_end_->rank == opened.rank.rank) rank_end_.reset();
  if (closed()) {
    ended_.reset();
    end_reason_.clear();
    next_tick_ = now + std::chrono::seconds(1);
  }
  lost_since_.reset();
  close_due_.reset();
  changes_ += board_.Remove(kEndedWithoutClose);
  Join(*rank);
  Touch(*rank);
  JudgeIfChanged(now, last_step_, effects);
  return rank;
}

RankState* RunState::AssumeRank(Time now, int32_t rank) {
  if (opened_ == Time{}) {
    opened_ = now;
    next_tick_ = now + std::chrono::seconds(1);
    assumed_ = true;
  }
  RankState* found = FindRank(rank);
  if (found == nullptr) {
    RankDescription description;
    description.rank = rank;
    found = AddRank(description);
    description_.world_size = std::max(description_.world_size, rank + 1);
    Join(*found);
  }
  Touch(*found);
  return found;
}

void RunState::Drop(RankState* rank, const Dropped& dropped) {
  for (StepTotals* totals : {&rank->totals, &totals_}) {
    totals->dropped_steps = SaturatingAdd(totals->dropped_steps, dropped.steps);
    totals->dropped_ops = SaturatingAdd(totals->dropped_ops, dropped.ops);
  }
  heard_ = kPause;
  Touch(*rank);
}

void RunState::LoseRank(Time now, RankState* rank, Effects* effects) {
  if (rank->life != LifeState::kOpen) return;
  SetLife(rank, LifeState::kLost);
  EndRank(now, rank, effects);
}

void RunState::CloseRank(Time now, RankState* rank, Effects* effects) {
  // What was lost since the last tick is known, and no tick may come.
  if (rank->life == LifeState::kOpen && OpenRanks() == 1) JudgeTime(now);
  SetLife(rank, LifeState::kClosed);
  left_step_ = std::min(left_step_, rank->last_step);
  EndRank(now, rank, effects);
}

// Nothing more will be heard that could clear them.
void RunState::ForgetLeft(int64_t step) {
  left_step_ = INT64_MAX;
  for (const auto& rank : ranks_) {
    if (rank->life != LifeState::kClosed) continue;
    if (rank->last_step < step) {
      changes_ += board_.RemoveRank(rank->description.rank);
    } else {
      left_step_ = std::min(left_step_, rank->last_step);
    }
  }
}

void RunState::LeaveRank(Time now, RankState* rank, Effects* effects) {
  rank->session = 0;
  CloseRank(now, rank, effects);
}

void RunState::EndRank(Time now, RankState* rank, Effects* effects) {
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].group == rank->description.group()) JudgeAligned(now, g);
  }
  NoticeSilence(now);
  Touch(*rank);
  JudgeIfChanged(now, last_step_, effects);
}

// Nobody is left who could be called stalled: one warning says so instead.
void RunState::NoticeSilence(Time now) {
  const int lost = LostRanks();
  if (closed() || lost_since_ || lost == 0 || OpenRanks() > 0) return;
  lost_since_ = now;
  close_due_ = now + shared_->options.lost_run_closes_after;
  for (uint32_t i = 0; i < TimeRules::kSize; ++i) {
    const RuleId rule = TimeRules::Specs()[i]->id;
    if (rule == RuleId::kProgramEnded || kToldOfParts.has(rule)) continue;
    board_.Remove({FindingKey::List::kTime, -1, 0, i});
  }
  if (rank_end_) return;
  const int64_t step = last_step_ == INT64_MIN ? 0 : last_step_;
  Finding finding = Blank(Subject{}, step, now);
  finding.rule = RuleId::kTelemetryGap;
  finding.family = Family::kTelemetry;
  finding.severity = Severity::kWarning;
  finding.sentence =
      "The run ended without close: the stream of " +
      (lost == 1 ? std::string("its last rank")
                 : "all " + std::to_string(lost) + " ranks") +
      " broke off " +
      (last_step_ == INT64_MIN ? std::string("before any step was reported.")
                               : "after step " + std::to_string(step) + ".");
  finding.numbers = {{"ranks_lost", static_cast<double>(lost), ""}};
  board_.Put(kEndedWithoutClose, std::move(finding));
  ++changes_;
}

void RunState::Close(Time now, const RunClosed& how, Effects* effects) {
  if (closed()) return;
  if (OpenRanks() > 0) JudgeTime(now);
  for (const auto& rank : ranks_) {
    if (rank->life == LifeState::kOpen) {
      SetLife(rank.get(), LifeState::kClosed);
    }
  }
  Renew(now, effects);
  std::vector<Incident> changed;
  book_.Close(Raise(now), how.reason, &changed);
  // No alert is held any more for what was over before.
  if (!gave_up()) diagnosis_ = Diagnosed(board_.Sorted());
  board_.Clear();
  changes_ = 0;
  fresh_.clear();
  ended_ = now;
  end_reason_ = how.reason;
  ended_in_order_ = how.in_order;
  lost_since_.reset();
  close_due_.reset();
  blocks_.clear();
  dirty_ = true;
  Tell(&changed, effects);
}

void RunState::Annotate(Time now, const Annotation& annotation,
                        Effects* effects) {
  dirty_ = true;
  if (annotation.kind != Annotation::Kind::kStopRequest) {
    book_.Annotate(now, annotation);
    return;
  }
  if (closed()) return;  // nobody is there to stop
  AskToStop(annotation.by.empty()
                ? annotation.reason
                : annotation.reason + " (" + annotation.by + ")",
            effects);
}

void RunState::Touch(const RankState& rank) {
  dirty_ = true;
  const size_t block = rank.index / kRankBlock;
  if (block < blocks_.size()) blocks_[block].reset();
}

}  // namespace nanwatch
