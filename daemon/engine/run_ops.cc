// Op statuses of a run: names once, rows many, the interesting ones judged with
// the step record that they belong to.

#include <algorithm>
#include <cmath>

#include "base/fnv1a.h"
#include "detect/bad_elements.h"
#include "engine/run_state.h"
#include "model/limits.h"
#include "model/told_overflow.h"

namespace nanwatch {
namespace {

// All that makes two ops the same: names are shared between ranks, shapes may
// differ (tensor parallelism).
std::string BytesOf(const OpName& op) {
  std::string bytes;
  StateWriter writer(&bytes);
  writer(op);
  return bytes;
}

}  // namespace

uint32_t RunState::InternOp(const OpName& op) {
  const auto [at, fresh] = op_index_.try_emplace(
      BytesOf(op), static_cast<uint32_t>(op_names_.size()));
  if (fresh) {
    op_names_.push_back(op);
    name_hashes_.push_back(Fnv1aOf(op.name));
    HoldOpBytes(BytesHeldFor(op));
  }
  return at->second;
}

void RunState::IndexOp(size_t index) {
  op_index_.emplace(BytesOf(op_names_[index]), static_cast<uint32_t>(index));
  name_hashes_.push_back(Fnv1aOf(op_names_[index].name));
}

void RunState::AddOps(RankState* rank, const OpNames& names) {
  const size_t before = rank->ops.names();
  // History may begin in the middle of a session.
  while (rank->ops.names() < names.first_index) {
    OpName unknown;
    unknown.name = "op " + std::to_string(rank->ops.names());
    rank->ops.AddName(InternOp(unknown), Dtype::kUnknown);
  }
  const size_t end = names.first_index + names.ops.size();
  if (end > rank->ops.names()) rank->ops.Expect(end - rank->ops.names());
  for (size_t i = 0; i < names.ops.size(); ++i) {
    if (names.first_index + i < rank->ops.names()) continue;  // held already
    rank->ops.AddName(InternOp(names.ops[i]), names.ops[i].dtype,
                      names.ops[i].order);
  }
  HoldOpBytes((rank->ops.names() - before) * limits::kRankOpBytes);
}

void RunState::TakeOps(Time now, RankState* rank, const OpColumns& columns,
                       Effects* effects) {
  GoOn();
  if (columns.rows() == 0) return;
  if (IsForComparing(columns)) {
    shared_->stats.op_statuses += columns.rows();
    rank->totals.op_statuses += columns.rows();
    totals_.op_statuses += columns.rows();
    return;
  }
  const uint32_t last = LargestOp(columns);
  if (last >= rank->ops.names()) AddOps(rank, {.first_index = last + 1});
  const bool saturation =
      description_.overflow_mode == OverflowMode::kSaturation;
  const uint64_t not_kept = rank->ops.not_kept();
  shared_->stats.late_op_statuses += rank->ops.Take(
      columns, saturation, rank->last_step, &shared_->marks, name_hashes_);
  shared_->stats.pending_ops_not_kept += rank->ops.not_kept() - not_kept;
  shared_->stats.op_statuses += columns.rows();
  heard_ = kPause;
  rank->totals.op_statuses += columns.rows();
  totals_.op_statuses += columns.rows();
  const OpGroup& newest = columns.groups.back();
  rank->last_op_time = newest.time;
  rank->last_op_step = std::max(rank->last_op_step, newest.step);
  if (rank->op_only) {
    JudgeWaitingOps(rank, rank->ops.newest_step(), effects);
  }
  Touch(*rank);
  JudgeIfDue(now, rank->last_op_step, effects);
}

void RunState::JudgeOps(RankState* rank, size_t count,
                        const ScalerTracker& scaler, const StepRecord* record) {
  const auto judge = [&](size_t i) {
    const PendingOp& op = rank->ops.pending_at(i);
    const bool same = record != nullptr && record->step == op.status.step;
    JudgeOp(rank, op, scaler, same ? record : nullptr);
  };
  // A full ledger has places for what is new as far as what it holds is over:
  // whether that is bad again it must hear first.
  const auto is_new = [&](const PendingOp& op) {
    return op.bad && ledger_.full() &&
           !ledger_.Lists(NameOf(*rank, op.status.op), op.status.slot);
  };
  std::vector<size_t> last;
  for (size_t i = 0; i < count; ++i) {
    if (is_new(rank->ops.pending_at(i))) {
      last.push_back(i);
    } else {
      judge(i);
    }
  }
  for (const size_t i : last) judge(i);
  rank->ops.Drop(count);
}

void RunState::JudgeOp(RankState* rank, const PendingOp& op,
                       const ScalerTracker& scaler, const StepRecord* record) {
  const OpName& name = NameOf(*rank, op.status.op);
  const int64_t update =
      static_cast<int64_t>(rank->tally().updates()) + rank->op_updates;
  const bool saturation =
      description_.overflow_mode == OverflowMode::kSaturation;
  OpTrend trend = op.trend;
  if (op.status.slot == Slot::kParameter) {  // known once all rows are there
    trend.other_weights = rank->ops.OtherWeights(op.status.step, op.status.op);
  }
  const OpContext context{.run = description_,
                          .op = name,
                          .status = op.status,
                          .inputs = op.inputs,
                          .record = record,
                          .scaler = scaler,
                          .update = update,
                          .trend = trend,
                          .masked_ops = shared_->options.masked_ops};
  // What is meant to be there (masks, buffers not filled yet) is no evidence.
  const bool meant = op.bad_elements > 0 && !CountBad(context).any() &&
                     !op.status.device_flag.value_or(false);
  if (!meant) {
    const Fate fate = record == nullptr ? Fate::kUnknown : scaler.fate();
    changes_ += ledger_.Add(op, name, rank->description.rank,
                            {.number = rank->looks(),
                             .scale = scaler.scale(),
                             .lost = fate == Fate::kLost,
                             .outcome = OutcomeOf(record, fate)},
                            saturation);
  }
  WatchedOp* watched =
      rank->ops.Watched(op.status.op, op.status.slot, op.interesting);
  if (watched == nullptr) {
    shared_->stats.watched_ops_not_kept += op.interesting;
    return;
  }
  if (op.interesting) watched->last_interesting = update;
  const uint32_t place =
      op.status.op * kSlots + static_cast<int>(op.status.slot);
  watched->rules.On(context, shared_->tables->op(), [&](size_t i) {
    Subject subject;
    subject.rank = rank->description.rank;
    subject.op = name.name;
    subject.slot = op.status.slot;
    Changed({FindingKey::List::kOp, rank->description.rank, place,
             static_cast<uint32_t>(i)},
            watched->rules, Blank(subject, op.status.step, op.status.time));
  });
}

OpUpdate::Outcome RunState::OutcomeOf(const StepRecord* record,
                                      Fate fate) const {
  using Outcome = OpUpdate::Outcome;
  if (record == nullptr || first_good_step_ < 0 || bad_loss_.Lasts()) {
    return Outcome::kNotTold;
  }
  const bool told = SaysOverflow(*record) || fate != Fate::kUnknown;
  const float norm = (*record)[StepField::kGradNorm];
  const bool has_norm = record->has(StepField::kGradNorm);
  // One that is infinite may have left the range of its own type.
  const bool spoilt =
      has_norm && (std::isnan(norm) || (std::isinf(norm) && !told));
  if (fate == Fate::kLost || Overflowed(*record) || spoilt) {
    return Outcome::kHarmed;
  }
  const bool says = told || has_norm || record->has(StepField::kLoss);
  return says ? Outcome::kFine : Outcome::kNotTold;
}

// Of the newest step with a bad op, of its lowest rank.
void RunState::NoteDownstream(const RankState& rank, int64_t step,
                              uint32_t bad_ops) {
  const int32_t number = rank.description.rank;
  if (step < downstream_.step ||
      (step == downstream_.step && number > downstream_rank_)) {
    return;
  }
  downstream_ = rank.ops.Forward(step);
  downstream_.step = step;
  downstream_bad_ops_ = bad_ops;
  downstream_rank_ = number;
}

void RunState::JudgeWaitingOps(RankState* rank, int64_t step,
                               Effects* effects) {
  static const ScalerTracker kNoScaler{};
  while (rank->ops.pending() && rank->ops.oldest().status.step < step) {
    const PendingOp first = rank->ops.oldest();
    const int64_t at = first.status.step;
    const auto pending = rank->ops.UpTo(at);
    const StepOps sum = rank->ops.Sum(pending, at);
    const size_t count = pending.size();
    const Time time = pending.back().status.time;
    ++rank->op_updates;
    if (sum.bad_ops > 0) NoteDownstream(*rank, at, sum.bad_ops);
    JudgeOps(rank, count, kNoScaler, nullptr);
    JudgeIfDue(time, at, effects);
  }
}

}  // namespace nanwatch
