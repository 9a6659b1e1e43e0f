// A run's whole state to bytes and back.

#include "engine/run_state.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// What plain memory looks like in this build; bytes of another one are not
// read.
struct Schema {
  uint64_t sizes[12] = {
      sizeof(OptimizerTrack), sizeof(OpRules),      sizeof(AlignedRules),
      sizeof(TimeRules),      sizeof(StepTally),    sizeof(Pace),
      sizeof(PendingOp),      sizeof(LatestValues), sizeof(LayerRules),
      sizeof(WaitingFit),     sizeof(LayerCourse),  sizeof(BenchRules)};
  bool operator==(const Schema&) const = default;
};

}  // namespace

template <typename A>
void RunState::AllFields(A& archive) {
  archive(key_, description_, good_scale_before_, loss_before_, batches_,
          updates_before_, troubles_before_, opened_, ended_, end_reason_,
          ended_in_order_, records_ended_, rank_end_, lost_since_, close_due_,
          awake_since_, last_record_, judged_at_, last_step_, left_step_,
          judged_since_, assumed_, begun_, totals_, first_overflow_step_,
          last_overflow_step_, first_good_step_, bad_loss_, downstream_,
          downstream_bad_ops_, downstream_rank_, optimizers_, groups_, bench_,
          time_rules_, op_names_, ledger_, board_, diagnosis_, asked_,
          next_tick_, heard_, stop_requested_, detections_, told_, changes_,
          fresh_, judged_step_, judged_worst_);
}

std::string RunState::Save() const {
  std::string bytes;
  StateWriter writer(&bytes);
  writer(Schema{});
  const_cast<RunState*>(this)->AllFields(writer);
  writer(static_cast<uint64_t>(ranks_.size()));
  for (const auto& rank : ranks_) writer(*rank);
  std::string book;
  book_.Save(&book);
  writer(book);
  Seal(&bytes);
  return bytes;
}

bool RunState::Load(std::string_view state) {
  if (!Unseal(&state)) return false;
  StateReader reader(state);
  Schema schema{};
  reader(schema);
  if (!(schema == Schema{})) return false;
  AllFields(reader);
  CountForOwner();
  uint64_t ranks = 0;
  reader(ranks);
  for (uint64_t i = 0; i < ranks && reader.ok(); ++i) {
    RankState& rank = *ranks_.emplace_back(std::make_unique<RankState>());
    reader(rank);
    rank.index = static_cast<uint32_t>(i);
    Hold({.ranks = 1,
          .op_bytes = rank.ops.names() * limits::kRankOpBytes,
          .run_bytes = BytesHeldFor(rank.description)});
    CountLife(rank.life, 1);
  }
  std::string book;
  reader(book);
  if (!reader.ok() || !reader.at_end() || !book_.Load(book)) return false;
  op_index_.clear();
  name_hashes_.clear();
  for (size_t i = 0; i < op_names_.size(); ++i) IndexOp(i);
  for (const OpName& op : op_names_) HoldOpBytes(BytesHeldFor(op));
  HoldRunBytes(BytesHeldFor(description_));
  blocks_.clear();
  dirty_ = true;
  return true;
}

}  // namespace nanwatch
