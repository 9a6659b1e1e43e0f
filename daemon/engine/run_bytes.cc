// What a run holds of the budgets over all runs.

#include "engine/run_state.h"

namespace nanwatch {
namespace {

// A node of a tree or of a hash table, beside what it holds.
constexpr size_t kNode = 96;

}  // namespace

size_t BytesHeldFor(const OpName& op) {
  // The entries in vectors that grow by doubling, and a node of the index whose
  // key says the same again.
  return 2 * (sizeof(OpName) + sizeof(uint64_t)) + kNode +
         2 * (op.name.size() + op.type.size() + op.data_format.size()) +
         2 * sizeof(int64_t) *
             (op.logical_shape.size() + op.storage_shape.size());
}

size_t BytesHeldFor(const RunDescription& run) {
  size_t bytes = run.job.size() + run.framework.size() + run.precision.size() +
                 run.owner.size();
  for (const auto& [name, value] : run.settings) {
    bytes += kNode + name.size() + value.size();
  }
  return bytes;
}

size_t BytesHeldFor(const RankDescription& rank) {
  return rank.host.size() + rank.device.size() + rank.device_id.size() +
         rank.pod.name.size() + rank.pod.name_space.size() +
         rank.pod.node.size();
}

void RunState::Hold(const Holdings& more) {
  held_ += more;
  shared_->all += more;
  if (owners_ != nullptr) *owners_ += more;
}

void RunState::CountForOwner() {
  CountForNobody();
  owners_ = &shared_->owners[description_.owner];
  *owners_ += held_;
}

void RunState::CountForNobody() {
  if (owners_ == nullptr) return;
  *owners_ -= held_;
  if (owners_->runs == 0) shared_->owners.erase(description_.owner);
  owners_ = nullptr;
}

}  // namespace nanwatch
