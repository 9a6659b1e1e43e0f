// Step records of a run: one rank's at a time, then those of ranks that must
// agree side by side.

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "detect/program.h"
#include "detect/replica_locator.h"
#include "engine/run_state.h"
#include "model/limits.h"
#include "model/told_overflow.h"

namespace nanwatch {
namespace {

// While something is found, the diagnosis is made anew now and then, also when
// no finding changed: evidence gathers, fast in the beginning. Later every 64
// updates, which are seconds at least in a training; where they are less
// (tiny models, bulk loads), once a second or so.
bool TimeToRejudge(uint64_t updates, const Pace& pace) {
  constexpr uint64_t kMost = 4096;
  if (updates <= 1024) return updates % (updates <= 64 ? 4 : 16) == 0;
  if (updates % 64 != 0) return false;
  const double step = pace.mean_seconds();
  uint64_t every = 64;
  while (step > 0 && every < kMost && static_cast<double>(every) * step < 1) {
    every *= 2;
  }
  return updates % every == 0;
}

bool HasNonfiniteLoss(const StepRecord& record) {
  const auto loss = record.get(StepField::kLoss);
  return loss && !std::isfinite(*loss);
}

// What the records of a batch leave to be looked at.
void NoteLatest(const StepColumns& columns, LatestValues* latest) {
  for (int f = 0; f < kStepFields; ++f) {
    if (!columns.field[f]) continue;
    const auto& [values, absent] = *columns.field[f];
    bool any = false;
    for (size_t row = values.size(); row-- > 0;) {
      if (!absent.empty() && TestBit(absent, row)) continue;
      if (!std::exchange(any, true)) latest->last[f] = values[row];
      if (!std::isfinite(values[row])) continue;
      latest->last_finite[f] = values[row];
      break;
    }
    // Where one is absent stands a 0.
    latest->nonfinite[f] += static_cast<uint64_t>(
        std::count_if(values.begin(), values.end(),
                      [](double value) { return !std::isfinite(value); }));
  }
}

}  // namespace

void RunState::TakeSteps(Time now, RankState* rank, const StepColumns& columns,
                         Effects* effects) {
  static const std::string kUnnamed;
  GoOn();
  std::array<uint32_t, limits::kOptimizersPerRank> tracks{};
  const size_t names = std::clamp<size_t>(columns.optimizers.size(), 1,
                                          limits::kOptimizersPerRank);
  for (size_t i = 0; i < names; ++i) {
    const OptimizerTrack* track = TrackOf(
        rank, columns.optimizers.empty() ? kUnnamed : columns.optimizers[i]);
    tracks[i] = static_cast<uint32_t>(track - rank->tracks.data());
  }
  if (rank->description.rank == 0) {
    for (const BatchDigest& of : columns.batch_digests) {
      batches_.Add(columns.step[of.row], of.digest);
    }
  }
  Learn(columns);
  if (columns.seen.rival_loss) rank->rivals.Tell();
  StepReader reader(columns);
  StepRecord record;
  shared_->logs.Take(columns);
  for (size_t row = 0; reader.Next(&record); ++row) {
    const size_t which = std::min<size_t>(record.optimizer, names - 1);
    TakeStep(rank, &rank->tracks[tracks[which]], record, shared_->logs.Of(row),
             effects);
  }
  NoteLatest(columns, &rank->latest);
  rank->op_only = false;
  heard_ = kPause;
  last_record_ = std::max(last_record_, rank->last_record);
  shared_->stats.steps += columns.rows();
  Touch(*rank);
  JudgeIfDue(now, last_step_, effects);
}

OptimizerTrack* RunState::TrackOf(RankState* rank,
                                  const std::string& optimizer) {
  for (OptimizerTrack& track : rank->tracks) {
    if (optimizers_[track.name] == optimizer) return &track;
  }
  // Admission refuses more names than fit; what comes all the same shares the
  // last track.
  if (rank->tracks.size() >= limits::kOptimizersPerRank) {
    return &rank->tracks.back();
  }
  auto name = std::find(optimizers_.begin(), optimizers_.end(), optimizer);
  if (name == optimizers_.end()) {
    name = optimizers_.insert(optimizers_.end(), optimizer);
  }
  OptimizerTrack track;
  track.name = static_cast<uint32_t>(name - optimizers_.begin());
  track.group = GroupOf(*rank, track.name);
  track.scaler.Declare(description_.scaler);
  track.scaler.Expect(description_.framework);
  track.scaler.Continue(good_scale_before_);
  if (rank->tracks.size() == 1) rank->all_tracks = rank->tracks.front().tally;
  rank->tracks.push_back(track);
  if (rank->tracks.size() > 1) {
    for (OptimizerTrack& each : rank->tracks) each.scaler.Share();
  }
  return &rank->tracks.back();
}

FindingKey RunState::KeyOf(const RankState& rank, const OptimizerTrack& track,
                           size_t rule) const {
  return {FindingKey::List::kStep, rank.description.rank,
          static_cast<uint32_t>(&track - rank.tracks.data()),
          static_cast<uint32_t>(rule)};
}

// Adds what the optimizer's series and rules say of loss and norm.
static void PointToSeries(const RankState& rank, const OptimizerTrack& track,
                          StepContext* context) {
  context->loss = &track.series.loss;
  context->grad_norm = &track.series.grad_norm;
  context->at_rest = &track.series.at_rest;
  context->first_step = track.tally.first_step();
  context->last_loss = track.series.last_loss;
  context->norm_taken = track.series.norm_taken;
  context->rate = &track.series.rate;
  context->loss_returns = track.rules.get<LossSpike>().Returns();
  context->level = rank.LevelOf(track);
  context->has_critic = rank.rivals.HasCritic();
  context->norm_warns = !track.outliers.ExplainsNorm() &&
                        (track.rules.get<GnormSpike>().Warns() ||
                         track.rules.get<GnormExplosion>().Warns());
}

// The series of norms has taken most records' logarithm already.
static StepContext ContextOf(const RunDescription& run,
                             const StepRecord& record,
                             const OptimizerTrack& track, const StepOps& ops) {
  return {.run = run,
          .record = record,
          .scaler = track.scaler,
          .ops = ops,
          .norm_log2 = track.series.norm_taken
                           ? track.series.grad_norm.y() * kLog2OfE
                           : Log2OfNorm(record)};
}

void RunState::TakeStep(RankState* rank, OptimizerTrack* track,
                        const StepRecord& record, const RecordLogs& logs,
                        Effects* effects) {
  // Which rank came first in a step decides nothing later.
  if (record.step > last_step_) {
    JudgeIfChanged(record.time, last_step_, effects);
  }
  if (record.step > left_step_) ForgetLeft(record.step);
  const Place was = track->newest;
  track->newest = was.Next(record.step);
  track->scaler.OnStep(record);
  track->series.Add(description_, record, logs, track->scaler);
  const bool overflow = Overflowed(record);
  const Fate fate = track->scaler.fate();
  track->tally.Add(record, overflow, fate);
  if (rank->tracks.size() > 1) {
    rank->all_tracks.Add(record, overflow, fate);
    if (!HasOneAim(description_)) rank->rivals.Add(record, track->name);
  }
  Remember(rank, record, fate);
  if (record.samples != nullptr)
    rank->samples.Add(record.step, *record.samples);
  CountStep(rank->description.rank, record, overflow, fate);

  StepOps ops;
  size_t waiting = 0;
  if (rank->ops.pending()) {
    const auto pending = rank->ops.UpTo(record.step);
    waiting = pending.size();
    ops = rank->ops.Sum(pending, record.step);
  }
  const OpTrends::OfStep all = rank->ops.All(record.step);
  ops.collected = all.collected;
  if ((overflow || HasNonfiniteLoss(record)) && !ops.collected) {
    ++rank->unlooked;
  }
  // Before names of ops are pointed to: it may add some.
  std::optional<StepLayers> layers;
  if (!record.layer_scales.empty()) layers = TakeLayers(rank, record);
  std::unique_ptr<StepGradients> common;  // of layers with their own scales
  StepContext context = ContextOf(description_, record, *track, ops);
  if (layers) context.layers = &*layers;
  PointToSeries(*rank, *track, &context);
  if (loss_before_ && rank->tracks.size() == 1) {
    context.loss_before = &*loss_before_;
  }
  if (all.gradients != nullptr) {
    PointToGradients(rank, *all.gradients, &common, &context);
  }
  track->rules.On(context, shared_->tables->step(), [&](size_t i) {
    Changed(KeyOf(*rank, *track, i), track->rules,
            Blank(SubjectOf(*rank, *track), record.step, record.time));
  });
  changes_ += track->outliers.Add(record, track->rules, overflow, fate);
  if (rank->ops.layers().any()) {
    const bool born = ops.forward_nonfinite || HasNonfiniteLoss(record);
    JudgeLayers(rank, record, track->scaler, born);
  }
  if (bench_.any()) JudgeBenchmark(*rank, record);
  if (waiting > 0) {
    if (ops.bad_ops > 0) NoteDownstream(*rank, record.step, ops.bad_ops);
    JudgeOps(rank, waiting, track->scaler, &record);
  }
  const AgreementState& group = groups_[track->group];
  if (group.open >= 2 || !group.ring.empty()) {
    Align(*rank, *track, was, record, ops);
  }
  JudgeAfter(rank, record, effects);
  if (rank->tally().updates() % 64 == 0) {
    rank->ops.Forget(static_cast<int64_t>(rank->tally().updates()));
  }
}

void RunState::JudgeAfter(RankState* rank, const StepRecord& record,
                          Effects* effects) {
  if (!board_.empty()) {
    const bool due = TimeToRejudge(rank->tally().updates(), rank->pace);
    // What one finding is judged with is as of now, too.
    if (due || changes_ > 0) Refresh(rank, record.time);
    if (due && Lowest() == rank) {
      ++changes_;
      // Of a batch's records the first was judged as of when the batch came.
      book_.RenewNext();
    }
  }
  JudgeIfDue(record.time, record.step, effects);
}

inline void RunState::Remember(RankState* rank, const StepRecord& record,
                               Fate fate) {
  if (rank->totals.steps > 0) rank->pace.Add(record.time - rank->last_record);
  ++rank->totals.steps;
  rank->totals.overflows += Overflowed(record);
  rank->totals.overflow_unknown += !SaysOverflow(record);
  rank->totals.skipped += fate == Fate::kLost;
  rank->totals.fate_unknown += fate == Fate::kUnknown;
  rank->last_step = std::max(rank->last_step, record.step);
  rank->last_record = record.time;
}

inline void RunState::CountStep(int32_t rank, const StepRecord& record,
                                bool overflow, Fate fate) {
  if (!begun_ && !judged_since_) judged_since_ = record.step;
  last_step_ = std::max(last_step_, record.step);
  ++totals_.steps;
  totals_.overflow_unknown += !SaysOverflow(record);
  totals_.skipped += fate == Fate::kLost;
  totals_.fate_unknown += fate == Fate::kUnknown;
  bad_loss_.Add(rank, record, overflow || fate == Fate::kLost);
  if (!overflow) {
    first_good_step_ = first_good_step_ < 0
                           ? record.step
                           : std::min(first_good_step_, record.step);
    return;
  }
  ++totals_.overflows;
  first_overflow_step_ = first_overflow_step_ < 0
                             ? record.step
                             : std::min(first_overflow_step_, record.step);
  last_overflow_step_ = std::max(last_overflow_step_, record.step);
}

// --------------------------------------------------------------- alignment

uint32_t RunState::GroupOf(const RankState& rank, uint32_t optimizer) {
  const AgreementGroup group = rank.description.group();
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].group == group && groups_[g].optimizer == optimizer) {
      return g;
    }
  }
  AgreementState& fresh = groups_.emplace_back();
  fresh.group = group;
  fresh.optimizer = optimizer;
  fresh.open = static_cast<int32_t>(OpenPlaces(fresh).size());
  return static_cast<uint32_t>(groups_.size() - 1);
}

std::vector<Place> RunState::OpenPlaces(const AgreementState& group) const {
  std::vector<Place> places;
  for (const auto& rank : ranks_) {
    if (rank->life != LifeState::kOpen ||
        rank->description.group() != group.group) {
      continue;
    }
    places.push_back(PlaceIn(group, *rank));
  }
  return places;
}

Place RunState::PlaceIn(const AgreementState& group, const RankState& rank) {
  Place place;
  for (const OptimizerTrack& track : rank.tracks) {
    if (track.name == group.optimizer) place = track.newest;
  }
  return place;
}

void RunState::Join(const RankState& rank) {
  const AgreementGroup own = rank.description.group();
  for (AgreementState& state : groups_) {
    if (state.group != own) continue;
    ++state.open;
    state.ring.Join(PlaceIn(state, rank));
  }
}

void RunState::Leave(const RankState& rank) {
  const AgreementGroup own = rank.description.group();
  for (AgreementState& state : groups_) {
    if (state.group != own) continue;
    --state.open;
    state.ring.Leave(PlaceIn(state, rank));
  }
}

void RunState::Align(const RankState& rank, const OptimizerTrack& track,
                     Place was, const StepRecord& record, const StepOps& ops) {
  AgreementState& group = groups_[track.group];
  group.ring.Add(
      was, track.newest, rank.description.rank, record, track.scaler.fate(),
      [&] { return OpenPlaces(group); }, ops);
  JudgeAligned(record.time, track.group);
}

ReplicaKind RunState::KindOf(const AlignedStep& step) const {
  if (step.digest.count < 2 || step.digest.min == step.digest.max) return {};
  const RankState* low = FindRank(step.digest.min_rank);
  const RankState* high = FindRank(step.digest.max_rank);
  if (low == nullptr || high == nullptr) return {};
  const RankDescription& a = low->description;
  const RankDescription& b = high->description;
  if (a.replica == ReplicaKind::kAlike && a.shapes != b.shapes) {
    return ReplicaKind::kNone;
  }
  return a.replica;
}

std::string_view RunState::DifferingOp(const AlignedStep& step) const {
  if (step.digest.count < 2 || step.digest.min == step.digest.max) return {};
  const RankState* low = FindRank(step.digest.min_rank);
  const RankState* high = FindRank(step.digest.max_rank);
  if (low == nullptr || high == nullptr) return {};
  const auto op =
      TensorThatDiffers(step.digest.min, step.digest.max,
                        std::min(low->ops.names(), high->ops.names()));
  if (!op) return {};
  // Indices are a session's: the same op on both, or it means nothing.
  const std::string& name = NameOf(*low, *op).name;
  return name == NameOf(*high, *op).name ? std::string_view(name)
                                         : std::string_view();
}

void RunState::JudgeAligned(Time now, uint32_t index) {
  AgreementState& group = groups_[index];
  while (auto judged = group.ring.Next(group.open, now)) {
    judged->step.group = group.group;
    judged->step.expected = group.open;
    const AlignedContext context{description_, judged->step, judged->time,
                                 DifferingOp(judged->step),
                                 KindOf(judged->step)};
    group.rules.On(context, shared_->tables->aligned(), [&](size_t i) {
      Subject subject;
      subject.optimizer = optimizers_[group.optimizer];
      Changed({FindingKey::List::kAligned, -1, index, static_cast<uint32_t>(i)},
              group.rules, Blank(subject, judged->step.step, judged->time));
    });
  }
}

}  // namespace nanwatch
